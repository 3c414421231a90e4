#include "agent/contract/run_identity.h"

#include <cstring>

#include "agent/base/text.h"
#include "agent/contract/fitted_name.h"

namespace jaxprof {
namespace {

const char* or_else(const char* value, const char* fallback) noexcept {
  return value != nullptr ? value : fallback;
}

void copy_fitted(char (&target)[kJobIdBytes], const char* text) noexcept {
  FittedName name(target, sizeof target);
  name.append(text);
  name.finish();
}

// Appends "PORT@ADDRESS" of the process group's first rank, which torchrun and people who set RANK by hand give to all.
void append_master(const Env& env, FittedName* out) noexcept {
  const char* port = env.get("MASTER_PORT");
  const char* address = env.get("MASTER_ADDR");
  if (port == nullptr && address == nullptr) return;
  if (!out->is_empty()) out->append('.');
  out->append(or_else(port, ""));
  out->append('@');
  out->append(or_else(address, ""));
}

// Slurm's step, where each of its tasks is one torchrun of this group: elsewhere nodes may be in steps of their own.
// The id that the user gave, often a constant ("none" if none was). The port of the rendezvous, often one too.
void append_torchrun(const Env& env, FittedName* out) noexcept {
  const std::int32_t n_agents = number_variable(env, "GROUP_WORLD_SIZE");
  if (env.get("SLURM_STEP_ID") != nullptr && n_agents > 0 && n_agents == number_variable(env, "SLURM_STEP_NUM_TASKS")) {
    out->append(env.get("SLURM_STEP_ID"));
  }
  const char* id = or_else(env.get("TORCHELASTIC_RUN_ID"), "none");
  if (std::strcmp(id, "none") != 0) {
    if (!out->is_empty()) out->append('.');
    out->append(id);
  }
  append_master(env, out);
  if (out->is_empty()) out->append("torchrun");
}

// A pod of an Indexed Job is called JOB-INDEX, one of a JobSet SET-GROUP-JOBINDEX-INDEX: what is left without the
// numbers is the same on all pods.
void append_name_of_pods(const Env& env, const char* host, FittedName* out) noexcept {
  std::size_t length = std::strlen(host);
  const int n_numbers = env.get("JAXPROF_JOB_INDEX") != nullptr ? 2 : 1;
  for (int i = 0; i < n_numbers; ++i) {
    std::size_t at = length;
    while (at > 0 && host[at - 1] >= '0' && host[at - 1] <= '9') --at;
    if (at == length || at < 2 || host[at - 1] != '-') {
      out->append("kubernetes");
      return;
    }
    length = at - 1;
  }
  out->append(host, length);
}

// What tells this run from others of the same job.
void append_step(const Env& env, Launcher launcher, const RunWitness& witness, FittedName* out) noexcept {
  const char* slurm_step = env.get("SLURM_STEP_ID");
  switch (launcher) {
    case Launcher::kTorchElastic:
      return append_torchrun(env, out);
    case Launcher::kOpenMpi:
    case Launcher::kPmix:
      return out->append(or_else(env.get("PMIX_NAMESPACE"), or_else(env.get("OMPI_MCA_ess_base_jobid"), "mpirun")));
    case Launcher::kMvapich:
      // mpirun_rsh tells its own process id.
      if (env.get("MPIRUN_ID") != nullptr) return out->append(env.get("MPIRUN_ID"));
      [[fallthrough]];
    case Launcher::kHydra:
      return out->append(*witness.mpiexec != '\0' ? witness.mpiexec : or_else(slurm_step, "mpiexec"));
    case Launcher::kPmi:
      if (env.get("PMI_JOBID") != nullptr) return out->append(env.get("PMI_JOBID"));
      return out->append(*witness.mpiexec != '\0' ? witness.mpiexec : or_else(slurm_step, "pmi"));
    case Launcher::kPals:
      return out->append(or_else(env.get("PALS_APID"), "pals"));
    case Launcher::kJsrun:
      return out->append(or_else(env.get("PMIX_NAMESPACE"), "jsrun"));
    case Launcher::kFlux:
      // A Flux that was started inside a Slurm job runs several of its own.
      return out->append(env.get("SLURM_JOB_ID") != nullptr ? or_else(env.get("FLUX_JOB_ID"), "flux") : "0");
    case Launcher::kSlurm:
      return out->append(or_else(slurm_step, "slurm"));
    case Launcher::kAlps:
      return out->append(or_else(env.get("ALPS_APP_ID"), "alps"));
    case Launcher::kKubernetes:
      return append_name_of_pods(env, witness.host, out);
    case Launcher::kNamed:
    case Launcher::kExplicit:
    case Launcher::kPlainEnv:
      append_master(env, out);
      if (out->is_empty()) out->append(or_else(slurm_step, "ranks"));
      return;
    case Launcher::kUnknown:
      out->append(witness.host);
      out->append('-');
      out->append_number(static_cast<std::uint64_t>(witness.pid));
      out->append('-');
      out->append_number(witness.start_ticks);
      return;
  }
}

// Slurm's job is known to all that it or a launcher inside it has started. PBS and LSF are asked only where their own
// launchers started all ranks or there is no other rank to agree with: a rank that an mpirun started by ssh does not
// have their variables, while those beside the mpirun do.
const char* job_of(const Env& env, Launcher launcher) noexcept {
  if (const char* slurm = env.get("SLURM_JOB_ID"); slurm != nullptr) return slurm;
  const char* pbs = env.get("PBS_JOBID");
  const char* lsf = env.get("LSB_JOBID");
  const bool is_of_jsrun = launcher == Launcher::kJsrun || env.get("JSM_NAMESPACE_RANK") != nullptr;
  if (is_of_jsrun && lsf != nullptr) return lsf;
  if (launcher == Launcher::kFlux) return or_else(env.get("FLUX_JOB_ID"), "flux");
  if (launcher == Launcher::kPals && pbs != nullptr) return pbs;
  if (launcher == Launcher::kUnknown) return or_else(pbs, or_else(lsf, "local"));
  return "local";
}

std::uint32_t restart_of(const Env& env, Launcher launcher) noexcept {
  std::int32_t count = number_variable(env, "SLURM_RESTART_COUNT");
  // Each agent of torchrun counts for itself: the one whose worker failed is ahead of the others.
  if (launcher == Launcher::kTorchElastic && number_variable(env, "GROUP_WORLD_SIZE") == 1) {
    const std::int32_t own = number_variable(env, "TORCHELASTIC_RESTART_COUNT");
    if (own > 0) count = (count > 0 ? count : 0) + own;
  }
  return count > 0 ? static_cast<std::uint32_t>(count) : 0;
}

// Who started the ranks, also where somebody else numbers them.
Launcher launcher_of(const Env& env, const RankIdentity& rank, pid_t pid) noexcept {
  if (rank.launcher != Launcher::kNamed && rank.launcher != Launcher::kExplicit) return rank.launcher;
  const RankIdentity own = resolve_launcher_rank(env, pid);
  return own.is_known() ? own.launcher : rank.launcher;
}

}  // namespace

bool needs_mpiexec(Launcher launcher) noexcept {
  return launcher == Launcher::kHydra || launcher == Launcher::kMvapich || launcher == Launcher::kPmi;
}

RunIdentity resolve_run(const Env& env, const RankIdentity& rank, const RunWitness& witness) noexcept {
  const Launcher launcher = launcher_of(env, rank, witness.pid);
  RunIdentity run;
  FittedName step(run.step_id, sizeof run.step_id);
  if (const char* given = env.get("JAXPROF_RUN"); given != nullptr && *given != '\0') {
    step.append(given);
  } else {
    append_step(env, launcher, witness, &step);
  }
  step.finish();
  copy_fitted(run.job_id, job_of(env, launcher));
  run.restart = restart_of(env, launcher);
  TextBuffer id(run.run_id, sizeof run.run_id);
  id.append(run.job_id);
  id.append('.');
  id.append(run.step_id);
  id.append('.');
  id.append_number(run.restart);
  return run;
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

}  // namespace jaxprof
