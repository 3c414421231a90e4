// The job's environment: what the task was given and --env-var says, plus four variables at most. Three make CUDA, NVTX
// and NCCL load the agent where a process first calls them (never LD_PRELOAD, which would reach into shells and
// launchers as well), each only where something is to be recorded by it; one tells the agent where its session page is.
// Nothing else is touched. Each hook has one place, so another profiler that is there already is found here. Functions
// from values to values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/contract/session_page.h"
#include "launcher/window_options.h"

namespace jaxprof::launcher {

// The hooks that a recording needs.
struct Hooks {
  bool has_cuda = true;
  bool has_nvtx = true;
  bool has_nccl = true;
};
Hooks hooks_of(const WindowPlan& window, std::uint32_t trace, CuptiPolicy cupti);
Hooks hooks_of(const Recording& recording);

// Why a job has no process that was recorded, as far as the plan tells: "no process called NVTX, CUDA or NCCL" of what
// was waited for, or that nothing was asked for which a process records.
std::string describe_silence(const SessionPlan& plan);

// A hook variable that holds another program's value.
struct ForeignHook {
  std::string variable;
  std::string value;
  std::string tool;  // "nsys", "ncu", …; "" if not recognised
};

// "CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so (nsys)"
std::string describe(const ForeignHook& hook);

// The foreign hooks in `environment` ("NAME=value" each), of those that are needed: others are left to whoever set
// them. Empty values, and an agent of ours (a wrapper around this wrapper), are not foreign.
std::vector<ForeignHook> find_foreign_hooks(const std::vector<std::string>& environment, const Hooks& hooks = {});

// What nsys and ncu leave in the environment of all that they start, beside the hooks: their name and the variable,
// "nsys (NSYS_PROFILING_SESSION_ID)"; "" if there is none. CUPTI may not be had then.
std::string find_profiler_around(const std::vector<std::string>& environment);

// `environment` with the hooks set to `agent_path` and the session to `session_path`, both absolute: NCCL before 2.26
// would look for anything else under other names. Variables that are there keep their place; an agent of ours in a hook
// that is not needed goes.
std::vector<std::string> child_environment(std::vector<std::string> environment, const std::string& agent_path,
                                           const std::string& session_path, const Hooks& hooks = {});

// What child_environment changed, for a person: "+NAME=value", "-NAME", "NAME: old -> new".
std::vector<std::string> environment_difference(const std::vector<std::string>& before,
                                                const std::vector<std::string>& after);

// The calling process's environment, in its order.
std::vector<std::string> own_environment();
// The same with the variables of --env-var ("NAME=VALUE" each, the last of a name counts): what the job is to get.
std::vector<std::string> job_environment(const std::vector<std::string>& given);
// Gives this process that environment, for the job that takes its place.
void set_job_environment(const std::vector<std::string>& given);

}  // namespace jaxprof::launcher
