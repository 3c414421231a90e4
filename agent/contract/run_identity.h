// Which run is this? All ranks of one job step must find the same name for it, without asking each other, and two runs
// must find different ones, since their records may lie in one directory. Batch systems number jobs and steps; an MPI
// launcher or a torchrun without one tells its ranks an address of its own at best. What is taken from where is here,
// beside the ranks (rank_identity), and nowhere else. Agent-safe; resolve_run is called by wrappers only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof {

inline constexpr std::size_t kJobIdBytes = 64;
// Room for two ids, two dots and the ten digits of a restart count.
inline constexpr std::size_t kRunIdBytes = 2 * kJobIdBytes + 16;

// Which run: the same on all ranks of a job step. An id that does not fit is cut and ends with a hash (fitted_name.h).
struct RunIdentity {
  char job_id[kJobIdBytes] = {};   // the batch system's job id, else "local"
  char step_id[kJobIdBytes] = {};  // Slurm's step id, else what the launcher tells, else "HOST-PID-START"
  std::uint32_t restart = 0;       // Slurm's restart count, or that of a torchrun on one node
  char run_id[kRunIdBytes] = {};   // "JOB.STEP.RESTART", safe as a file name
};

// What a wrapper knows of itself beyond its environment. `host`, `pid` and `start_ticks` (process_start_ticks) name
// runs of processes without a launcher, of which each is a run of its own.
struct RunWitness {
  const char* host = "";
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  const char* mpiexec = "";  // "PORT@HOST" of the mpiexec of hydra that started this process, "" if none is known
};

// True if resolve_run asks for RunWitness::mpiexec of ranks that `launcher` has started.
bool needs_mpiexec(Launcher launcher) noexcept;

// The run of a wrapper. Who numbers the ranks (JAXPROF_RANK, --rank-from) makes no difference to which run it is.
// JAXPROF_RUN takes the place of what the launcher tells, behind the job's id.
RunIdentity resolve_run(const Env& env, const RankIdentity& rank, const RunWitness& witness) noexcept;

// Where Slurm has put a process. Texts are "" where the variable is not set, cut if longer than any that Slurm gives.
struct SlurmPlace {
  char job_id[kJobIdBytes] = {};   // SLURM_JOB_ID
  char step_id[kJobIdBytes] = {};  // SLURM_STEP_ID; a batch script has none
  char restart[16] = {};           // SLURM_RESTART_COUNT
  bool is_task = false;            // SLURM_TASK_PID is set, which only Slurm's own daemon does
};
SlurmPlace slurm_place(const Env& env) noexcept;

}  // namespace jaxprof
