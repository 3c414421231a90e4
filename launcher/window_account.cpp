#include "launcher/window_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "launcher/window_options.h"

namespace jaxprof::launcher {
namespace {

enum class Outcome { kNeverOpened, kOpenAtTheEnd, kClosed };

Outcome outcome_of(const PublishedProcess& process) {
  if (process.segments == 0) return Outcome::kNeverOpened;
  return process.window == "open" ? Outcome::kOpenAtTheEnd : Outcome::kClosed;
}

}  // namespace

std::string describe_windows(const std::vector<TaskEnd>& ends, const WindowPlan& window) {
  if (is_always_open(window)) return {};
  // By rank; processes without one are told apart by number.
  std::map<std::pair<bool, std::int64_t>, Outcome> outcomes;
  std::int64_t n_without_rank = 0;
  for (const TaskEnd& end : ends) {
    for (const PublishedProcess& process : end.processes) {
      if (process.spool.empty() && process.kept.empty()) continue;
      const bool has_rank = process.rank >= 0;
      const auto [known, is_new] =
          outcomes.try_emplace({has_rank, has_rank ? process.rank : n_without_rank++}, outcome_of(process));
      if (!is_new) known->second = std::max(known->second, outcome_of(process));
    }
  }
  if (outcomes.empty()) return {};
  const auto count = [&outcomes](Outcome wanted) {
    return std::count_if(outcomes.begin(), outcomes.end(), [wanted](const auto& one) { return one.second == wanted; });
  };
  const char* noun = n_without_rank == static_cast<std::int64_t>(outcomes.size()) ? "processes" : "ranks";
  const auto closed = count(Outcome::kClosed), open = count(Outcome::kOpenAtTheEnd),
             never = count(Outcome::kNeverOpened);
  const std::size_t all = outcomes.size();
  std::string text = "; " + name_window(window);
  if (closed == 0 && open == 0) return text + fmt::format(" never opened on any of {} {}", all, noun);
  text += fmt::format(" closed on {} of {} {}", closed, all, noun);
  if (open > 0) text += fmt::format(", still open at the end on {}", open);
  if (never > 0) text += fmt::format(", never opened on {}", never);
  return text;
}

}  // namespace jaxprof::launcher
