#include "launcher/child_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "agent/contract/session_page.h"
#include "launcher/agent_library.h"

namespace jaxprof::launcher {
namespace {

constexpr std::array kHookVariables = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"};

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

std::vector<ForeignHook> find_foreign_hooks(const std::vector<std::string>& environment) {
  std::vector<ForeignHook> hooks;
  for (const char* variable : kHookVariables) {
    const std::string* entry = find_entry(environment, variable);
    if (entry == nullptr) continue;
    const std::string_view value = value_of(*entry);
    if (value.empty() || is_agent(value)) continue;
    hooks.push_back({variable, std::string(value), recognise_tool(value)});
  }
  return hooks;
}

std::vector<std::string> child_environment(std::vector<std::string> environment, const std::string& agent_path,
                                           const std::string& session_path) {
  for (const char* variable : kHookVariables) set_variable(&environment, variable, agent_path);
  set_variable(&environment, kSessionVariable, session_path);
  return environment;
}

std::vector<std::string> environment_difference(const std::vector<std::string>& before,
                                                const std::vector<std::string>& after) {
  std::vector<std::string> lines;
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

}  // namespace jaxprof::launcher
