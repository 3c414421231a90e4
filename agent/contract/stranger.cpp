#include "agent/contract/stranger.h"

#include <cstring>

#include "agent/contract/rank_identity.h"
#include "agent/contract/run_identity.h"

namespace jaxprof {
namespace {

bool is_set(const char* text) noexcept {
  return text[0] != '\0';
}

bool differ(const char* one, const char* other) noexcept {
  return std::strcmp(one, other) != 0;
}

bool are_set_and_differ(const char* one, const char* other) noexcept {
  return is_set(one) && is_set(other) && differ(one, other);
}

bool is_mpi_launcher(Launcher launcher) noexcept {
  return launcher == Launcher::kOpenMpi || launcher == Launcher::kHydra || launcher == Launcher::kMvapich;
}

// In an allocation hydra starts its daemons by srun even on its own node (and Open MPI those of other nodes), so that a
// rank of an mpiexec inside the command is in a step that the wrapper is not in.
bool is_rank_of_inner_mpi(const SessionPlan& plan, const Env& env) noexcept {
  return is_mpi_launcher(resolve_new_rank(env, plan.task_sources).launcher);
}

// SLURM_JOB_ID alone proves nothing where the wrapper has none: programs are tried outside of Slurm with its variables
// set by hand.
bool is_in_other_job(const SlurmPlace& wrapper, const SlurmPlace& own) noexcept {
  if (!is_set(wrapper.job_id)) return is_set(own.job_id) && own.is_task;
  if (!is_set(own.job_id)) return false;
  // a count that is not set is that of a job's first start
  const char* restart = is_set(wrapper.restart) ? wrapper.restart : "0";
  return differ(wrapper.job_id, own.job_id) || are_set_and_differ(restart, own.restart);
}

// A batch script has no step of its own, the tasks of an srun inside it have.
bool is_in_other_step(const SlurmPlace& wrapper, const SlurmPlace& own) noexcept {
  return is_set(wrapper.job_id) && is_set(own.step_id) && differ(wrapper.step_id, own.step_id);
}

}  // namespace

bool is_stranger(const SessionPlan& plan, const char* boot_id, const Env& env) noexcept {
  if (are_set_and_differ(plan.boot_id, boot_id)) return true;
  const SlurmPlace own = slurm_place(env);
  if (is_in_other_job(plan.slurm, own)) return true;
  return is_in_other_step(plan.slurm, own) && !is_rank_of_inner_mpi(plan, env);
}

}  // namespace jaxprof
