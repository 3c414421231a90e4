// Which rank of the job is this process? Every launcher says it in variables of its own, several at once may be set
// (mpirun inside sbatch leaves SLURM_PROCID=0 on every rank), and all of them are inherited by child processes. This
// is the one place that knows those variables and their precedence. It answers for the wrapper and again for each
// process, so that the innermost launcher wins, and it never turns "unknown" into rank 0. Agent-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "agent/base/env.h"

namespace jaxprof {

enum class Launcher : std::uint8_t {
  kUnknown = 0,
  kNamed,     // the variables of --rank-from
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
  kKubernetes,
};

const char* launcher_name(Launcher launcher) noexcept;

struct RankIdentity {
  Launcher launcher = Launcher::kUnknown;
  std::int32_t rank = -1;          // -1: unknown
  std::int32_t world_size = -1;    // -1: unknown
  std::int32_t local_rank = -1;    // among the ranks of this node; -1: unknown
  std::int32_t node_index = -1;    // the launcher's node number; -1: unknown
  const char* rank_variable = "";  // the variable that decided: a literal, or in the RankVariables that named it

  bool is_known() const noexcept { return rank >= 0; }
};

inline constexpr std::size_t kVariableNameBytes = 64;

// The variables that a person has named to tell the rank (--rank-from). Plain memory: it lies in the session page.
struct RankVariables {
  char rank[kVariableNameBytes] = {};        // "": none named, the table decides
  char local_rank[kVariableNameBytes] = {};  // "": not told
  char world_size[kVariableNameBytes] = {};  // "": not told
};

// Whose rank a process with id `pid` and environment `env` is. In this order: the variables that --rank-from names
// (`named`), what they do not name being JAXPROF_WORLD_SIZE and JAXPROF_LOCAL_RANK where these are set; JAXPROF_RANK;
// what resolve_launcher_rank tells. A named or explicit rank that is no number below its size is passed over.
RankIdentity resolve_rank(const Env& env, pid_t pid, const RankVariables& named = {}) noexcept;

// The first of these alone; unknown if nothing is named or the variables do not tell a rank.
RankIdentity resolve_named_rank(const Env& env, const RankVariables& named) noexcept;

// What launchers alone tell: the Slurm step if srun started this very process (SLURM_TASK_PID == pid, which beats stale
// variables exported at submission); the first launcher of the table whose rank and size are both set and consistent;
// the first that has a rank alone.
RankIdentity resolve_launcher_rank(const Env& env, pid_t pid) noexcept;

// What JAXPROF_RANK, each launcher of the table and a Kubernetes Indexed Job tell, each by itself. Plain memory: it
// lies in the session page.
struct RankSources {
  static constexpr std::size_t kCount = 17;
  RankIdentity ranks[kCount];  // in the order of precedence; `rank_variable` is a literal of the process that read it
};
RankSources read_rank_sources(const Env& env) noexcept;

// The rank that was given to a process since an ancestor of it read `before`: that of the first source which tells a
// number that it did not tell there, one with a size before one without. Unknown if none does: what a process has lost,
// and what it has inherited, is no rank of its own.
RankIdentity resolve_new_rank(const Env& env, const RankSources& before) noexcept;

// Where no rank is known: the variables of the launcher whose rank is set all the same, which is the first of the table
// that its marker shows to be there, else the last. Null names if there is none. A Slurm batch script is none: it has a
// rank of 0 that means nothing.
struct RankColumns {
  const char* marker = nullptr;  // may be `rank` or `size`
  const char* rank = nullptr;
  const char* size = nullptr;  // null: this launcher does not tell it
};
RankColumns find_unusable_rank(const Env& env) noexcept;

// True if `variable` is one that launchers or systems set differently on different ranks or nodes of one job, or one
// that `named` says to be, so that a directory named after it would not be the same for all.
bool is_per_rank_variable(const char* variable, const RankVariables& named = {}) noexcept;

// The value of variable `name` as a number of 0 or more; -1 if it is not set or is none. A null or empty name is not
// set.
std::int32_t number_variable(const Env& env, const char* name) noexcept;

// True if Slurm itself started process `pid` with environment `env` as a task of a step.
bool is_task_of_srun(const Env& env, pid_t pid) noexcept;

}  // namespace jaxprof
