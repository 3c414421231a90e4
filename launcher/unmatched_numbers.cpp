#include "launcher/unmatched_numbers.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "agent/contract/rank_selection.h"
#include "launcher/tasks_per_node.h"

namespace jaxprof::launcher {
namespace {

// `count`: there are numbers below it; 0 if it is not known.
void add(const char* option, const char* list, std::size_t count, std::string* text) {
  if (list[0] == '\0' || count == 0) return;
  const std::uint64_t largest = largest_in_number_list(list);
  if (largest < count) return;
  if (!text->empty()) *text += "; ";
  *text += std::string(option) + " names " + std::to_string(largest) + ", the job has ";
  *text += count == 1 ? "0 alone" : "0 to " + std::to_string(count - 1);
}

}  // namespace

std::string describe_unmatched_numbers(const Options& options, const RankIdentity& own, const Env& env) {
  const std::vector<std::int32_t> tasks = find_tasks_per_node(own, env);
  std::string text;
  if (!options.has_inner_ranks) {  // whose numbers only they know
    add("--ranks", options.selection.ranks, static_cast<std::size_t>(std::max(own.world_size, 0)), &text);
    const std::int32_t most = tasks.empty() ? 0 : *std::max_element(tasks.begin(), tasks.end());
    add("--local-ranks", options.selection.local_ranks, static_cast<std::size_t>(most), &text);
  }
  add("--nodes", options.selection.nodes, tasks.size(), &text);
  return text;
}

}  // namespace jaxprof::launcher
