#include "launcher/collect/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "launcher/announcement.h"
#include "launcher/check.h"

namespace jaxprof::launcher {
namespace {

std::string spools_of(const Collected& collected) {
  if (collected.spools == 0) return "no spools";
  std::string text = fmt::format("{} {}, {}", collected.spools, collected.spools == 1 ? "spool" : "spools",
                                 readable_bytes(collected.bytes));
  if (collected.saved > 0) text += fmt::format(", {} saved from memory", collected.saved);
  return text;
}

}  // namespace

std::string describe(const Account& account, bool is_dry_run) {
  const std::string name = name_of(account.task);
  const Collected& collected = account.collected;
  switch (collected.state) {
    case Collected::State::kCollected:
      if (is_dry_run) {
        return fmt::format("left       {}: {} in {}", name, spools_of(collected), account.task.start.spool_directory);
      }
      return fmt::format("collected  {}: {}", name, spools_of(collected));
    case Collected::State::kRunning:
      return fmt::format("running    {}: its wrapper lives, left alone", name);
    case Collected::State::kBusy:
      return fmt::format("busy       {}: {}", name, collected.reason);
    case Collected::State::kGoesOn:
      return fmt::format("goes on    {}: {}", name, collected.reason);
    case Collected::State::kFailed:
      return fmt::format("failed     {}: {}", name, collected.reason);
    case Collected::State::kGone:
      break;
  }
  return {};
}

std::string describe_sum(const std::vector<Account>& accounts, const std::string& host, bool is_dry_run) {
  std::int64_t tasks = 0, alive = 0, busy = 0, failed = 0;
  Collected sum;
  for (const Account& account : accounts) {
    const Collected& collected = account.collected;
    alive += collected.state == Collected::State::kRunning || collected.state == Collected::State::kGoesOn ? 1 : 0;
    busy += collected.state == Collected::State::kBusy ? 1 : 0;
    failed += collected.state == Collected::State::kFailed ? 1 : 0;
    if (collected.state != Collected::State::kCollected) continue;
    ++tasks;
    sum.spools += collected.spools;
    sum.bytes += collected.bytes;
    sum.saved += collected.saved;
  }
  std::string text = tasks == 0 ? fmt::format("nothing to collect on {}", host)
                                : fmt::format("{} {} on {}: {}{}", tasks, tasks == 1 ? "task" : "tasks", host,
                                              spools_of(sum), is_dry_run ? " to collect" : " collected");
  if (alive > 0) text += fmt::format("; {} still running", alive);
  if (busy > 0) text += fmt::format("; {} being collected by others", busy);
  if (failed > 0) text += fmt::format("; {} could not be collected", failed);
  return text;
}

std::string describe_elsewhere(const std::map<std::string, std::vector<std::int64_t>>& ranks_by_node) {
  constexpr std::size_t kMostNodes = 32;
  std::size_t n_tasks = 0, n_nodes = 0;
  std::string nodes;
  for (const auto& [host, ranks] : ranks_by_node) {
    n_tasks += ranks.size();
    if (++n_nodes > kMostNodes) continue;
    std::vector<std::int64_t> known;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(known), [](std::int64_t rank) { return rank >= 0; });
    nodes += (nodes.empty() ? "" : ", ") + host;
    if (!known.empty()) nodes += fmt::format(" ({} {})", known.size() == 1 ? "rank" : "ranks", compact_ranks(known));
  }
  if (n_tasks == 0) return {};
  if (n_nodes > kMostNodes) nodes += fmt::format(" and {} more nodes", n_nodes - kMostNodes);
  return fmt::format("{} on other nodes {} no end: {}; if they were killed, collect there too",
                     n_tasks == 1 ? "a task" : fmt::format("{} tasks", n_tasks), n_tasks == 1 ? "has" : "have", nodes);
}

}  // namespace jaxprof::launcher
