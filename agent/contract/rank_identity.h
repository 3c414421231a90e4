// Which rank of the job is this process? Every launcher says it in variables of its own, several at once may be set
// (mpirun inside sbatch leaves SLURM_PROCID=0 on every rank), and all of them are inherited by child processes. This
// is the one place that knows those variables and their precedence. It answers for the wrapper and again for each
// process, so that the innermost launcher wins, and it never turns "unknown" into rank 0. Agent-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "agent/base/env.h"
#include "agent/base/text.h"

namespace jaxprof {

enum class Launcher : std::uint8_t {
  kUnknown = 0,
  kExplicit,  // JAXPROF_RANK, JAXPROF_WORLD_SIZE, JAXPROF_LOCAL_RANK
  kTorchElastic,
  kOpenMpi,
  kMvapich,
  kHydra,
  kPals,
  kJsrun,
  kFlux,
  kSlurm,
  kPmix,
  kPmi,
  kAlps,
  kPlainEnv,
};

const char* launcher_name(Launcher launcher) noexcept;

struct RankIdentity {
  Launcher launcher = Launcher::kUnknown;
  std::int32_t rank = -1;          // -1: unknown
  std::int32_t world_size = -1;    // -1: unknown
  std::int32_t local_rank = -1;    // among the ranks of this node; -1: unknown
  std::int32_t node_index = -1;    // the launcher's node number; -1: unknown
  const char* rank_variable = "";  // the variable that decided, a literal

  bool is_known() const noexcept { return rank >= 0; }
};

inline constexpr std::size_t kVariableNameBytes = 64;

// The variables that a person has named to tell the rank (--rank-from). Plain memory: it lies in the session page.
struct RankVariables {
  char rank[kVariableNameBytes] = {};        // "": none named, the table decides
  char local_rank[kVariableNameBytes] = {};  // "": not told
  char world_size[kVariableNameBytes] = {};  // "": not told
};

// Evaluates the precedence table for a process with id `pid` and environment `env`:
// explicit variables; the Slurm step if srun started this very process (SLURM_TASK_PID == pid, which beats stale
// variables exported at submission); the first launcher whose rank and size are both set and consistent; the first
// that has a rank alone.
RankIdentity resolve_rank(const Env& env, pid_t pid) noexcept;

// True if `variable` is one that launchers or systems set differently on different ranks or nodes of one job, so that
// a directory named after it would not be the same for all.
bool is_per_rank_variable(const char* variable) noexcept;

inline constexpr std::size_t kRunIdBytes = 128;
inline constexpr std::size_t kJobIdBytes = 64;

// Which run: the same on all ranks of a job step.
struct RunIdentity {
  char job_id[kJobIdBytes] = {};   // Slurm's job id, else the launcher's, else "local"
  char step_id[kJobIdBytes] = {};  // Slurm's step id, else the launcher's, else "HOST-PID-START"
  std::uint32_t restart = 0;       // Slurm's restart count
  char run_id[kRunIdBytes] = {};   // "JOB.STEP.RESTART", safe as a file name
};

// Where Slurm has put a process. Texts are "" where the variable is not set, cut if longer than any that Slurm gives.
struct SlurmPlace {
  char job_id[kJobIdBytes] = {};   // SLURM_JOB_ID
  char step_id[kJobIdBytes] = {};  // SLURM_STEP_ID; a batch script has none
  char restart[16] = {};           // SLURM_RESTART_COUNT
  bool is_task = false;            // SLURM_TASK_PID is set, which only Slurm's own daemon does
};
SlurmPlace slurm_place(const Env& env) noexcept;

// True if Slurm itself started process `pid` with environment `env` as a task of a step.
bool is_task_of_srun(const Env& env, pid_t pid) noexcept;

// The run that a wrapper with identity `rank` belongs to. `host`, `pid` and `start_ticks` (process_start_ticks) name
// runs of processes without a launcher, of which each is a run of its own.
RunIdentity resolve_run(const Env& env, const RankIdentity& rank, const char* host, pid_t pid,
                        std::uint64_t start_ticks) noexcept;

// Appends `text`, with everything but letters, digits, '.', '_', '-', '+', '=', ',', '@' and ':' replaced by '_'.
void append_file_name(TextBuffer* out, const char* text) noexcept;

}  // namespace jaxprof
