#include "launcher/tasks_per_node.h"

#include <algorithm>
#include <optional>

#include "agent/base/parse_number.h"

namespace jaxprof::launcher {

std::vector<std::int32_t> parse_tasks_per_node(const std::string& text) {
  constexpr std::uint64_t kMaxTasks = 1 << 24;
  std::vector<std::int32_t> tasks;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    const std::size_t times = item.find("(x");
    const auto count = parse_uint64(item.substr(0, times));
    std::optional<std::uint64_t> nodes = 1;
    if (times != std::string::npos) {
      if (!item.ends_with(')')) return {};
      nodes = parse_uint64(item.substr(times + 2, item.size() - times - 3));
    }
    if (!count || !nodes || *count > kMaxTasks || *nodes > kMaxTasks || tasks.size() + *nodes > kMaxTasks) return {};
    tasks.insert(tasks.end(), *nodes, static_cast<std::int32_t>(*count));
    at = end + 1;
  }
  return tasks;
}

std::vector<std::int32_t> find_tasks_per_node(const RankIdentity& own, const Env& env) {
  const char* per_node = env.get("SLURM_STEP_TASKS_PER_NODE");
  if (own.launcher != Launcher::kSlurm || per_node == nullptr) return {};
  return parse_tasks_per_node(per_node);
}

}  // namespace jaxprof::launcher
