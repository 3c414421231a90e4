#include "agent/contract/rank_identity.h"

#include <cstddef>
#include <cstring>

namespace jaxprof {
namespace {

// One launcher: the variable that marks it, and where it keeps rank, size, local rank and node. A null name is a value
// that it does not tell. Order is precedence: launchers that are started by others come first.
struct Row {
  Launcher launcher;
  const char* marker;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* node;
};

constexpr Row kRows[] = {
    {Launcher::kTorchElastic, "TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK"},
    {Launcher::kOpenMpi, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    {Launcher::kMvapich, "MVP_COMM_WORLD_RANK", "MVP_COMM_WORLD_RANK", "MVP_COMM_WORLD_SIZE",
     "MVP_COMM_WORLD_LOCAL_RANK", nullptr},
    {Launcher::kMvapich, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_LOCAL_RANK", nullptr},
    {Launcher::kHydra, "HYDI_CONTROL_FD", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    {Launcher::kHydra, "MPI_LOCALRANKID", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    {Launcher::kPals, "PALS_APID", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", "PALS_NODEID"},
    {Launcher::kPals, "PALS_APID", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PALS_NODEID"},
    {Launcher::kJsrun, "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
     nullptr},
    {Launcher::kFlux, "FLUX_TASK_RANK", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", nullptr},
    {Launcher::kSlurm, "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NODEID"},
    {Launcher::kPmi, "PMI_RANK", "PMI_RANK", "PMI_SIZE", nullptr, nullptr},
    {Launcher::kPmix, "PMIX_RANK", "PMIX_RANK", nullptr, nullptr, nullptr},
    {Launcher::kAlps, "ALPS_APP_PE", "ALPS_APP_PE", nullptr, nullptr, nullptr},
    {Launcher::kPlainEnv, "RANK", "RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK"},
};

constexpr Row kExplicitRow = {Launcher::kExplicit,  "JAXPROF_RANK",       "JAXPROF_RANK",
                              "JAXPROF_WORLD_SIZE", "JAXPROF_LOCAL_RANK", "JAXPROF_NODE_INDEX"};

// Set per task, node or host, but not a column of the table.
constexpr const char* kOtherPerRankVariables[] = {
    "HOSTNAME",
    "HOST",
    "SLURMD_NODENAME",
    "SLURM_TASK_PID",
    "SLURM_GTIDS",
    "SLURM_TOPOLOGY_ADDR",
    "SLURM_CPUS_ON_NODE",
    "SLURM_JOB_GPUS",
    "SLURM_STEP_GPUS",
    "CUDA_VISIBLE_DEVICES",
    "PMI_FD",
    "PMIX_HOSTNAME",
    "POD_NAME",
    "JOB_COMPLETION_INDEX",
    "OMPI_COMM_WORLD_NODE_RANK",
    "PET_NODE_RANK",
    "SLURM_LAUNCH_NODE_IPADDR_LOCAL",
    "GPU_DEVICE_ORDINAL",
    "ROCR_VISIBLE_DEVICES",
};

std::int32_t number_of(const Env& env, const char* name) noexcept {
  const char* text = name != nullptr ? env.get(name) : nullptr;
  std::uint64_t value = 0;
  if (text == nullptr || !parse_decimal(text, &value) || value > INT32_MAX) return -1;
  return static_cast<std::int32_t>(value);
}

RankIdentity read_row(const Env& env, const Row& row) noexcept {
  RankIdentity identity;
  if (env.get(row.marker) == nullptr) return identity;
  const std::int32_t rank = number_of(env, row.rank);
  if (rank < 0) return identity;
  std::int32_t size = number_of(env, row.size);
  if (size < 0 && row.launcher == Launcher::kSlurm) size = number_of(env, "SLURM_NTASKS");
  if (size >= 0 && rank >= size) return identity;  // stale or foreign values: they cannot both be true
  identity.launcher = row.launcher;
  identity.rank = rank;
  identity.world_size = size > 0 ? size : -1;
  identity.local_rank = number_of(env, row.local_rank);
  identity.node_index = number_of(env, row.node);
  identity.rank_variable = row.rank;
  return identity;
}

void copy_file_name(char (&target)[kJobIdBytes], const char* text) noexcept {
  TextBuffer out(target, sizeof target);
  append_file_name(&out, text);
}

}  // namespace

const char* launcher_name(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::kUnknown:
      return "unknown";
    case Launcher::kExplicit:
      return "JAXPROF_RANK";
    case Launcher::kTorchElastic:
      return "torchrun";
    case Launcher::kOpenMpi:
      return "Open MPI";
    case Launcher::kMvapich:
      return "MVAPICH";
    case Launcher::kHydra:
      return "hydra";
    case Launcher::kPals:
      return "PALS";
    case Launcher::kJsrun:
      return "jsrun";
    case Launcher::kFlux:
      return "Flux";
    case Launcher::kSlurm:
      return "Slurm";
    case Launcher::kPmix:
      return "PMIx";
    case Launcher::kPmi:
      return "PMI";
    case Launcher::kAlps:
      return "ALPS";
    case Launcher::kPlainEnv:
      return "RANK and WORLD_SIZE";
  }
  return "unknown";
}

RankIdentity resolve_rank(const Env& env, pid_t pid) noexcept {
  if (const RankIdentity given = read_row(env, kExplicitRow); given.is_known()) return given;
  if (is_task_of_srun(env, pid)) {
    for (const Row& row : kRows) {
      if (row.launcher != Launcher::kSlurm) continue;
      if (const RankIdentity slurm = read_row(env, row); slurm.is_known()) return slurm;
    }
  }
  RankIdentity lone;
  for (const Row& row : kRows) {
    const RankIdentity identity = read_row(env, row);
    if (!identity.is_known()) continue;
    if (identity.world_size > 0) return identity;
    if (!lone.is_known()) lone = identity;
  }
  return lone;
}

bool is_per_rank_variable(const char* variable) noexcept {
  const auto is = [variable](const char* name) { return name != nullptr && std::strcmp(variable, name) == 0; };
  for (const Row& row : kRows) {
    if (is(row.rank) || is(row.local_rank) || is(row.node)) return true;
  }
  if (is(kExplicitRow.rank) || is(kExplicitRow.local_rank) || is(kExplicitRow.node)) return true;
  for (const char* name : kOtherPerRankVariables) {
    if (is(name)) return true;
  }
  return false;
}

bool is_task_of_srun(const Env& env, pid_t pid) noexcept {
  return env.get("SLURM_STEP_ID") != nullptr && number_of(env, "SLURM_TASK_PID") == pid;
}

SlurmPlace slurm_place(const Env& env) noexcept {
  SlurmPlace place;
  const auto copy = [&env](char* target, std::size_t capacity, const char* name) {
    if (const char* value = env.get(name); value != nullptr) TextBuffer(target, capacity).append(value);
  };
  copy(place.job_id, sizeof place.job_id, "SLURM_JOB_ID");
  copy(place.step_id, sizeof place.step_id, "SLURM_STEP_ID");
  copy(place.restart, sizeof place.restart, "SLURM_RESTART_COUNT");
  place.is_task = env.get("SLURM_TASK_PID") != nullptr;
  return place;
}

RunIdentity resolve_run(const Env& env, const RankIdentity& rank, const char* host, pid_t pid,
                        std::uint64_t start_ticks) noexcept {
  RunIdentity run;
  char own[kJobIdBytes];  // for a process that no launcher numbered: a run of its own
  TextBuffer own_text(own, sizeof own);
  own_text.append(host);
  own_text.append('-');
  own_text.append_number(static_cast<std::uint64_t>(pid));
  own_text.append('-');
  own_text.append_number(start_ticks);

  const char* slurm_job = env.get("SLURM_JOB_ID");
  const char* name_space = env.get("PMIX_NAMESPACE");
  if (name_space == nullptr) name_space = env.get("OMPI_MCA_ess_base_jobid");
  const char* job = "local";
  const char* step = own;
  switch (rank.launcher) {
    case Launcher::kTorchElastic:
      step = env.get("TORCHELASTIC_RUN_ID");
      break;
    case Launcher::kOpenMpi:
    case Launcher::kPmix:
      if (name_space != nullptr) step = name_space;
      break;
    case Launcher::kPals:
      step = env.get("PALS_APID");
      break;
    case Launcher::kJsrun:
      job = env.get("LSB_JOBID") != nullptr ? env.get("LSB_JOBID") : "lsf";
      step = env.get("JSM_NAMESPACE_ID") != nullptr ? env.get("JSM_NAMESPACE_ID") : "jsrun";
      break;
    case Launcher::kFlux:
      job = env.get("FLUX_JOB_ID") != nullptr ? env.get("FLUX_JOB_ID") : "flux";
      step = "0";
      break;
    case Launcher::kSlurm:
      step = env.get("SLURM_STEP_ID");
      break;
    case Launcher::kAlps:
      step = env.get("ALPS_APP_ID") != nullptr ? env.get("ALPS_APP_ID") : "alps";
      break;
    case Launcher::kHydra:
    case Launcher::kMvapich:
    case Launcher::kPmi:
      step = "mpi";
      break;
    case Launcher::kExplicit:
    case Launcher::kPlainEnv:
      step = env.get("SLURM_STEP_ID") != nullptr ? env.get("SLURM_STEP_ID") : "ranks";
      break;
    case Launcher::kUnknown:
      break;
  }
  if (const char* given = env.get("JAXPROF_RUN"); given != nullptr && *given != '\0') step = given;
  if (slurm_job != nullptr) job = slurm_job;
  copy_file_name(run.job_id, job);
  copy_file_name(run.step_id, step);
  const std::int32_t restart = number_of(env, "SLURM_RESTART_COUNT");
  run.restart = restart > 0 ? static_cast<std::uint32_t>(restart) : 0;
  static_assert(kRunIdBytes >= 2 * kJobIdBytes);
  // Long ids are cut by the two buffers above; what is left always fits but for the restart count's digits.
  TextBuffer id(run.run_id, sizeof run.run_id);
  id.append(run.job_id);
  id.append('.');
  id.append(run.step_id);
  id.append('.');
  id.append_number(run.restart);
  return run;
}

void append_file_name(TextBuffer* out, const char* text) noexcept {
  for (; *text != '\0'; ++text) {
    const char c = *text;
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::strchr("._-+=,@:", c) != nullptr;
    out->append(is_plain ? c : '_');
  }
}

}  // namespace jaxprof
