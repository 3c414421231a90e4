#include "launcher/child_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "agent/contract/session_page.h"
#include "launcher/agent_library.h"

namespace jaxprof::launcher {
namespace {

struct HookVariable {
  const char* name;
  bool Hooks::*is_needed;
};
constexpr std::array kHookVariables = {HookVariable{"CUDA_INJECTION64_PATH", &Hooks::has_cuda},
                                       HookVariable{"NVTX_INJECTION64_PATH", &Hooks::has_nvtx},
                                       HookVariable{"NCCL_PROFILER_PLUGIN", &Hooks::has_nccl}};

// Set by a profiler for what it starts, and by nobody else.
struct ProfilerVariable {
  const char* name;
  const char* tool;
};
constexpr ProfilerVariable kProfilerVariables[] = {
    {"NSYS_PROFILING_SESSION_ID", "nsys"},
    {"QUADD_INJECTION_PROXY", "nsys"},
    {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "ncu"},
    {"NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "ncu"},
};

// A part of a path in lower case, and whose it is; the first that fits.
struct KnownTool {
  const char* part;
  const char* name;
};
constexpr KnownTool kKnownTools[] = {
    {"nsight-compute", "ncu"},
    {"nsight_compute", "ncu"},
    {"ncu", "ncu"},
    {"nsight", "nsys"},
    {"nsys", "nsys"},
    {"toolsinjection", "nsys"},
    {"inspector", "NCCL inspector"},
    {"comma", "CoMMA"},
    {"libcupti.so", "CUPTI itself, as some images have it"},
    {"cupti", "a CUPTI tool"},
};

std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

std::string_view value_of(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  return equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
}

const std::string* find_entry(const std::vector<std::string>& environment, std::string_view name) {
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [name](const std::string& entry) { return name_of(entry) == name; });
  return found == environment.end() ? nullptr : &*found;
}

std::string recognise_tool(std::string_view value) {
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "none") return "switched off by the user";
  for (const KnownTool& tool : kKnownTools) {
    if (lower.find(tool.part) != std::string::npos) return tool.name;
  }
  return {};
}

bool is_agent(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == kAgentFileName;
}

void set_variable(std::vector<std::string>* environment, const std::string& name, const std::string& value) {
  std::string entry = name + "=" + value;
  for (std::string& old : *environment) {
    if (name_of(old) != name) continue;
    old = std::move(entry);
    return;
  }
  environment->push_back(std::move(entry));
}

}  // namespace

std::string describe(const ForeignHook& hook) {
  std::string text = hook.variable + "=" + hook.value;
  if (!hook.tool.empty()) text += " (" + hook.tool + ")";
  return text;
}

Hooks hooks_of(const WindowPlan& window, std::uint32_t trace, CuptiPolicy cupti) {
  const bool records_cuda = (trace & kTraceCuda) != 0 && cupti != CuptiPolicy::kOff;
  const bool has_ranges = window.kind == WindowKind::kRange || window.kind == WindowKind::kSteps;
  Hooks hooks;
  hooks.has_cuda = records_cuda || window.kind == WindowKind::kProfiler;
  hooks.has_nvtx = (trace & (kTraceNvtx | kTraceNccl)) != 0 || has_ranges;
  hooks.has_nccl = (trace & kTraceNccl) != 0;
  return hooks;
}

Hooks hooks_of(const Recording& recording) {
  return hooks_of(recording.window, recording.trace, recording.cupti);
}

std::string describe_silence(const SessionPlan& plan) {
  const Hooks hooks = hooks_of(plan.window, plan.trace, plan.cupti);
  std::vector<std::string> names;
  if (hooks.has_nvtx) names.push_back("NVTX");
  if (hooks.has_cuda) names.push_back("CUDA");
  if (hooks.has_nccl) names.push_back("NCCL");
  if (names.empty()) {
    const bool is_without_cupti = (plan.trace & kTraceCuda) != 0 && plan.cupti == CuptiPolicy::kOff;
    return "nothing was asked for that is recorded in a process (--trace " + trace_words(plan.trace) +
           (is_without_cupti ? " --cupti off)" : ")");
  }
  std::string text = "no process called " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

std::vector<ForeignHook> find_foreign_hooks(const std::vector<std::string>& environment, const Hooks& hooks) {
  std::vector<ForeignHook> found;
  for (const HookVariable& variable : kHookVariables) {
    const std::string* entry = find_entry(environment, variable.name);
    if (entry == nullptr || !(hooks.*variable.is_needed)) continue;
    const std::string_view value = value_of(*entry);
    if (value.empty() || is_agent(value)) continue;
    found.push_back({variable.name, std::string(value), recognise_tool(value)});
  }
  return found;
}

std::string find_profiler_around(const std::vector<std::string>& environment) {
  for (const ProfilerVariable& variable : kProfilerVariables) {
    if (find_entry(environment, variable.name) == nullptr) continue;
    return std::string(variable.tool) + " (" + variable.name + ")";
  }
  return {};
}

std::vector<std::string> child_environment(std::vector<std::string> environment, const std::string& agent_path,
                                           const std::string& session_path, const Hooks& hooks) {
  for (const HookVariable& variable : kHookVariables) {
    if (hooks.*variable.is_needed) {
      set_variable(&environment, variable.name, agent_path);
    } else if (const std::string* entry = find_entry(environment, variable.name);
               entry != nullptr && is_agent(value_of(*entry))) {
      environment.erase(environment.begin() + (entry - environment.data()));
    }
  }
  set_variable(&environment, kSessionVariable, session_path);
  return environment;
}

std::vector<std::string> environment_difference(const std::vector<std::string>& before,
                                                const std::vector<std::string>& after) {
  std::vector<std::string> lines;
  for (const std::string& entry : before) {
    const std::string name(name_of(entry));
    if (find_entry(after, name) == nullptr) lines.push_back("-" + name);
  }
  for (const std::string& entry : after) {
    const std::string name(name_of(entry));
    const std::string* old = find_entry(before, name);
    if (old == nullptr) {
      lines.push_back("+" + entry);
    } else if (*old != entry) {
      lines.push_back(name + ": " + std::string(value_of(*old)) + " -> " + std::string(value_of(entry)));
    }
  }
  return lines;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

std::vector<std::string> job_environment(const std::vector<std::string>& given) {
  std::vector<std::string> environment = own_environment();
  for (const std::string& entry : given) {
    set_variable(&environment, std::string(name_of(entry)), std::string(value_of(entry)));
  }
  return environment;
}

void set_job_environment(const std::vector<std::string>& given) {
  for (const std::string& entry : given) {
    setenv(std::string(name_of(entry)).c_str(), std::string(value_of(entry)).c_str(), 1);
  }
}

}  // namespace jaxprof::launcher
