// The job's environment: what the task was given, plus four variables. Three make CUDA, NVTX and NCCL load the agent
// where a process first calls them (never LD_PRELOAD, which would reach into shells and launchers as well), one tells
// the agent where its session page is. Nothing else is touched. Each hook has one place, so another profiler that is
// there already is found here. Functions from values to values.
#pragma once

#include <string>
#include <vector>

namespace jaxprof::launcher {

// A hook variable that holds another program's value.
struct ForeignHook {
  std::string variable;
  std::string value;
  std::string tool;  // "nsys", "ncu", …; "" if not recognised
};

// "CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so (nsys)"
std::string describe(const ForeignHook& hook);

// The foreign hooks in `environment` ("NAME=value" each). Empty values, and an agent of ours (a wrapper around this
// wrapper), are not foreign.
std::vector<ForeignHook> find_foreign_hooks(const std::vector<std::string>& environment);

// `environment` with the hooks set to `agent_path` and the session to `session_path`, both absolute: NCCL before 2.26
// would look for anything else under other names. Variables that are there keep their place.
std::vector<std::string> child_environment(std::vector<std::string> environment, const std::string& agent_path,
                                           const std::string& session_path);

// What child_environment changed, for a person: "+NAME=value", "NAME: old -> new".
std::vector<std::string> environment_difference(const std::vector<std::string>& before,
                                                const std::vector<std::string>& after);

// The calling process's environment, in its order.
std::vector<std::string> own_environment();

}  // namespace jaxprof::launcher
