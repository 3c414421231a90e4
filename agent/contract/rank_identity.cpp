#include "agent/contract/rank_identity.h"

#include <cstring>
#include <iterator>

#include "agent/base/text.h"

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

constexpr Row kSlurmRow = {Launcher::kSlurm,       "SLURM_STEP_ID", "SLURM_PROCID",
                           "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NODEID"};

constexpr Row kPlainRow = {Launcher::kPlainEnv, "WORLD_SIZE", "RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK"};

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
    kSlurmRow,
    {Launcher::kPmi, "PMI_RANK", "PMI_RANK", "PMI_SIZE", nullptr, nullptr},
    {Launcher::kPmix, "PMIX_RANK", "PMIX_RANK", nullptr, nullptr, nullptr},
    {Launcher::kAlps, "ALPS_APP_PE", "ALPS_APP_PE", nullptr, nullptr, nullptr},
    kPlainRow,
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
    "SLURM_CPU_BIND",
    "SLURM_CPU_BIND_LIST",
    "SLURM_GPUS_ON_NODE",
    "SLURM_SHARDS_ON_NODE",
    "SLURM_JOB_GPUS",
    "SLURM_STEP_GPUS",
    "CUDA_VISIBLE_DEVICES",
    "PMI_FD",
    "PMIX_HOSTNAME",
    "PMI_ID",
    "MPIRUN_RANK",
    "MPI_LOCALRANKID",
    "POD_NAME",
    "POD_IP",
    "JOB_COMPLETION_INDEX",
    "JAXPROF_JOB_INDEX",
    "OMPI_COMM_WORLD_NODE_RANK",
    "PET_NODE_RANK",
    "ROLE_RANK",
    "GPU_DEVICE_ORDINAL",
    "NVIDIA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
};

bool is_named(const char* variable) noexcept {
  return variable[0] != '\0';
}

// A row whose rank is not below its size holds stale or foreign values: they cannot both be true.
RankIdentity read_row(const Env& env, const Row& row) noexcept {
  RankIdentity identity;
  if (env.get(row.marker) == nullptr) return identity;
  const std::int32_t rank = number_variable(env, row.rank);
  const std::int32_t size = number_variable(env, row.size);
  if (rank < 0 || (size >= 0 && rank >= size)) return identity;
  identity.launcher = row.launcher;
  identity.rank = rank;
  identity.world_size = size;
  identity.local_rank = number_variable(env, row.local_rank);
  identity.node_index = number_variable(env, row.node);
  identity.rank_variable = row.rank;
  return identity;
}

// The size may be in SLURM_NTASKS only.
Row slurm_row(const Env& env) noexcept {
  Row row = kSlurmRow;
  if (number_variable(env, row.size) < 0) row.size = "SLURM_NTASKS";
  return row;
}

RankIdentity read_slurm_step(const Env& env) noexcept {
  return read_row(env, slurm_row(env));
}

// An Indexed Job numbers its pods, of which each is one rank; how many there are is not told, but for
// JAXPROF_WORLD_SIZE. In a JobSet each job counts from 0 anew, and its pods need JAXPROF_JOB_INDEX and
// JAXPROF_PODS_PER_JOB from the pod's template: half of that is no rank, since pods of several jobs would share it.
RankIdentity read_kubernetes(const Env& env) noexcept {
  RankIdentity identity;
  const std::int32_t index = number_variable(env, "JOB_COMPLETION_INDEX");
  if (index < 0) return identity;
  std::int64_t rank = index;
  if (env.get("JAXPROF_JOB_INDEX") != nullptr) {
    const std::int64_t job = number_variable(env, "JAXPROF_JOB_INDEX");
    const std::int64_t pods = number_variable(env, "JAXPROF_PODS_PER_JOB");
    if (job < 0 || index >= pods) return identity;
    rank += job * pods;
  }
  const std::int32_t size = number_variable(env, "JAXPROF_WORLD_SIZE");
  if (rank > INT32_MAX || (size >= 0 && rank >= size)) return identity;
  identity.launcher = Launcher::kKubernetes;
  identity.rank = static_cast<std::int32_t>(rank);
  identity.world_size = size;
  identity.local_rank = 0;
  identity.node_index = identity.rank;
  identity.rank_variable = "JOB_COMPLETION_INDEX";
  return identity;
}

// A program that calls MPI_Init and was not launched gives itself a PMIX_RANK of 0 (Open MPI 4.1), and says what it is.
bool is_singleton(const Env& env) noexcept {
  const char* kind = env.get("OMPI_MCA_ess");
  return kind != nullptr && std::strcmp(kind, "singleton") == 0;
}

RankIdentity read_launcher(const Env& env, const Row& row) noexcept {
  if (row.launcher == Launcher::kSlurm) return read_slurm_step(env);
  if (row.launcher == Launcher::kPmix && is_singleton(env)) return RankIdentity();
  RankIdentity identity = read_row(env, row);
  // Flux numbers no nodes; where there is but one, it is the first.
  if (identity.launcher == Launcher::kFlux && number_variable(env, "FLUX_JOB_NNODES") == 1) identity.node_index = 0;
  // Kubeflow's operator gives a pod's number to torchrun under torchrun's own name.
  if (identity.launcher == Launcher::kPlainEnv && identity.node_index < 0) {
    identity.node_index = number_variable(env, "PET_NODE_RANK");
  }
  return identity;
}

// True if `now` tells a rank, and not just what `before` told, or less.
bool is_new(const RankIdentity& now, const RankIdentity& before) noexcept {
  const auto is_other = [](std::int32_t value, std::int32_t old) { return value >= 0 && value != old; };
  return now.is_known() && (now.rank != before.rank || is_other(now.world_size, before.world_size) ||
                            is_other(now.local_rank, before.local_rank));
}

}  // namespace

const char* launcher_name(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::kUnknown:
      return "unknown";
    case Launcher::kNamed:
      return "--rank-from";
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
    case Launcher::kKubernetes:
      return "Kubernetes";
  }
  return "unknown";
}

RankIdentity resolve_rank(const Env& env, pid_t pid, const RankVariables& named) noexcept {
  if (const RankIdentity given = resolve_named_rank(env, named); given.is_known()) return given;
  if (const RankIdentity given = read_row(env, kExplicitRow); given.is_known()) return given;
  return resolve_launcher_rank(env, pid);
}

RankIdentity resolve_named_rank(const Env& env, const RankVariables& named) noexcept {
  if (!is_named(named.rank)) return RankIdentity();
  Row row = kExplicitRow;
  row.launcher = Launcher::kNamed;
  row.marker = row.rank = named.rank;
  if (is_named(named.local_rank)) row.local_rank = named.local_rank;
  if (is_named(named.world_size)) {
    row.size = named.world_size;
    if (number_variable(env, row.size) < 0) return RankIdentity();
  }
  return read_row(env, row);
}

RankIdentity resolve_launcher_rank(const Env& env, pid_t pid) noexcept {
  if (is_task_of_srun(env, pid)) {
    if (const RankIdentity slurm = read_slurm_step(env); slurm.is_known()) return slurm;
  }
  RankIdentity lone;
  for (const Row& row : kRows) {
    const RankIdentity identity = read_launcher(env, row);
    if (!identity.is_known()) continue;
    if (identity.world_size > 0) return identity;
    if (!lone.is_known()) lone = identity;
  }
  const RankIdentity pod = read_kubernetes(env);
  return lone.is_known() && pod.world_size < 0 ? lone : pod;
}

RankSources read_rank_sources(const Env& env) noexcept {
  static_assert(RankSources::kCount == std::size(kRows) + 2);
  RankSources sources;
  RankIdentity* at = sources.ranks;
  *at++ = read_row(env, kExplicitRow);
  for (const Row& row : kRows) *at++ = read_launcher(env, row);
  *at = read_kubernetes(env);
  return sources;
}

RankIdentity resolve_new_rank(const Env& env, const RankSources& before) noexcept {
  const RankSources now = read_rank_sources(env);
  RankIdentity lone;
  for (std::size_t i = 0; i < RankSources::kCount; ++i) {
    const RankIdentity& identity = now.ranks[i];
    if (!is_new(identity, before.ranks[i])) continue;
    if (identity.world_size > 0 || identity.launcher == Launcher::kExplicit) return identity;
    if (!lone.is_known()) lone = identity;
  }
  return lone;
}

RankColumns find_unusable_rank(const Env& env) noexcept {
  RankColumns unmarked;
  for (const Row& row : kRows) {
    if (env.get(row.rank) == nullptr) continue;
    const bool is_of_slurm = row.launcher == Launcher::kSlurm;
    const RankColumns columns = {row.marker, row.rank, is_of_slurm ? slurm_row(env).size : row.size};
    if (env.get(row.marker) != nullptr) return columns;
    // Without a step it is a batch script. Of others that share a variable the last in the table asks for least.
    if (!is_of_slurm) unmarked = columns;
  }
  return unmarked;
}

bool is_per_rank_variable(const char* variable, const RankVariables& named) noexcept {
  const auto is = [variable](const char* name) { return name != nullptr && std::strcmp(variable, name) == 0; };
  for (const Row& row : kRows) {
    if (is(row.rank) || is(row.local_rank) || is(row.node)) return true;
  }
  if (is(kExplicitRow.rank) || is(kExplicitRow.local_rank) || is(kExplicitRow.node)) return true;
  for (const char* name : kOtherPerRankVariables) {
    if (is(name)) return true;
  }
  return is_named(variable) && (is(named.rank) || is(named.local_rank));
}

std::int32_t number_variable(const Env& env, const char* name) noexcept {
  const char* text = name != nullptr && *name != '\0' ? env.get(name) : nullptr;
  std::uint64_t value = 0;
  if (text == nullptr || !parse_decimal(text, &value) || value > INT32_MAX) return -1;
  return static_cast<std::int32_t>(value);
}

bool is_task_of_srun(const Env& env, pid_t pid) noexcept {
  return env.get("SLURM_STEP_ID") != nullptr && number_variable(env, "SLURM_TASK_PID") == pid;
}

}  // namespace jaxprof
