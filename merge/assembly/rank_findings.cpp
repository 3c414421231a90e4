// A task may have several processes of one rank, and nothing is wrong with that; so tasks are compared, and not
// processes. For how long a task had a rank its processes say, and where it starts no ranks of its own also its
// records.
#include "merge/assembly/rank_findings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/contract/rank_identity.h"
#include "merge/runfile/rank_ranges.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using spool::IdentityKey;

// Position of the task; without one the node, and what the spool says of its wrapper.
using TaskKey = std::tuple<std::int64_t, std::uint32_t, std::string, std::int64_t>;

TaskKey key_of(const SourceProcess& process) {
  if (process.task >= 0) return {process.task, 0, "", 0};
  const spool::SpoolIdentity& id = process.trace.identity();
  return {-1, process.node, id.text(IdentityKey::kTask), id.number(IdentityKey::kWrapperPid)};
}

// A task that has a rank.
struct Holder {
  TaskKey key;
  std::size_t process = 0;  // the first of that rank, in RunSources::processes
  RecordedSpan processes;   // from its first process's begin to its last one's end
  bool is_restarted = false;
};

using RankHolders = std::map<std::int32_t, std::vector<Holder>>;

// The holders of each rank, by their begin.
RankHolders collect_holders(const RunSources& sources) {
  struct Stay {
    std::size_t process;
    RecordedSpan span;
  };
  std::map<std::int32_t, std::vector<Stay>> stays_of;
  for (std::size_t i = 0; i < sources.processes.size(); ++i) {
    const auto span = recorded_span(sources.processes[i]);
    if (span && sources.processes[i].rank >= 0) stays_of[sources.processes[i].rank].push_back({i, *span});
  }
  RankHolders holders_of;
  for (auto& [rank, stays] : stays_of) {
    std::stable_sort(stays.begin(), stays.end(),
                     [](const Stay& a, const Stay& b) { return a.span.first_ns < b.span.first_ns; });
    std::vector<Holder>& holders = holders_of[rank];
    for (const Stay& stay : stays) {
      const TaskKey key = key_of(sources.processes[stay.process]);
      const auto holder =
          std::find_if(holders.begin(), holders.end(), [&key](const Holder& known) { return known.key == key; });
      if (holder == holders.end()) {
        holders.push_back({key, stay.process, stay.span, false});
        continue;
      }
      holder->is_restarted |= stay.span.first_ns >= holder->processes.last_ns;
      holder->processes.last_ns = std::max(holder->processes.last_ns, stay.span.last_ns);
    }
  }
  return holders_of;
}

const rundir::FoundTask* task_of(const RunSources& sources, const Holder& holder) {
  const std::int64_t task = std::get<0>(holder.key);
  return task < 0 ? nullptr : &sources.tasks[static_cast<std::size_t>(task)];
}

bool starts_ranks(const RunSources& sources, const Holder& holder) {
  const rundir::FoundTask* task = task_of(sources, holder);
  return task != nullptr && task->start.has_inner_ranks;
}

// From the task's begin to the end of its last process of the rank. Its end record comes later than that, when another
// task may have the rank already.
RecordedSpan span_of_task(const RunSources& sources, const Holder& holder) {
  RecordedSpan span = holder.processes;
  const rundir::FoundTask* task = task_of(sources, holder);
  if (task == nullptr || task->start.realtime_ns <= 0) return span;
  const std::uint32_t node = sources.node_of(task->start.boot_id, task->start.host);
  const std::int64_t started_ns = sources.axis_of_wall(node, task->start.realtime_ns);
  if (started_ns >= 0) span.first_ns = std::min(span.first_ns, started_ns);
  return span;
}

// How long the task had the rank. What starts ranks of its own may have had it for a part of its time only.
RecordedSpan span_of_rank(const RunSources& sources, const Holder& holder) {
  return starts_ranks(sources, holder) ? holder.processes : span_of_task(sources, holder);
}

bool are_at_once(const RecordedSpan& a, const RecordedSpan& b) {
  return a.first_ns < b.last_ns && b.first_ns < a.last_ns;
}

class PairFinding {
 public:
  PairFinding(const RunSources& sources, const RunTime& time, const Holder& first, const Holder& second)
      : sources_(sources),
        time_(time),
        first_(sources.processes[first.process]),
        second_(sources.processes[second.process]),
        first_span_(span_of_rank(sources, first)),
        second_span_(span_of_rank(sources, second)) {}

  void add(Severity severity, const char* code, const char* between, const std::string& meaning,
           Diagnostics* diagnostics) const {
    diagnostics->add(severity, code,
                     {first_.rank, static_cast<std::uint32_t>(&second_ - sources_.processes.data()), second_.node}, 1,
                     "two tasks had rank " + std::to_string(first_.rank) + ", on " + words(first_, first_span_) +
                         between + words(second_, second_span_) + ": " + meaning);
  }

  // "; VARIABLE told both; …": what told each of the two its rank, and what overrides that. "" where nobody says.
  std::string source_words() const {
    const std::string source = source_of(first_);
    const std::string other = source_of(second_);
    if (source.empty() || other.empty()) return "";
    const std::string told =
        "; " + (source == other ? source + " told both" : source + " told the one and " + other + " the other");
    if (is_by_hand(first_) || is_by_hand(second_)) return told + ", and must differ from rank to rank";
    return told + "; JAXPROF_RANK and JAXPROF_WORLD_SIZE override it";
  }

 private:
  std::string words(const SourceProcess& process, const RecordedSpan& span) const {
    return process.trace.identity().text(IdentityKey::kHost) + " (" + process.trace.path() + ") from " +
           time_.words(span.first_ns) + ", to " + time_.words(span.last_ns);
  }
  static std::string source_of(const SourceProcess& process) {
    const spool::SpoolIdentity& id = process.trace.identity();
    const std::string variable = id.text(IdentityKey::kRankVariable);
    const bool is_named = !variable.empty() && id.text(IdentityKey::kLauncher) == launcher_name(Launcher::kNamed);
    return is_named ? variable + " (--rank-from)" : variable;
  }
  // A person chose the variable.
  static bool is_by_hand(const SourceProcess& process) {
    const std::string launcher = process.trace.identity().text(IdentityKey::kLauncher);
    return launcher == launcher_name(Launcher::kNamed) || launcher == launcher_name(Launcher::kExplicit);
  }

  const RunSources& sources_;
  const RunTime& time_;
  const SourceProcess& first_;
  const SourceProcess& second_;
  RecordedSpan first_span_;
  RecordedSpan second_span_;
};

void find_restarted(const RunSources& sources, const RankHolders& holders_of, Diagnostics* diagnostics) {
  std::vector<std::int32_t> restarted;
  for (const auto& [rank, holders] : holders_of) {
    const bool is_restarted = std::any_of(holders.begin(), holders.end(), [&sources](const Holder& holder) {
      return holder.is_restarted && starts_ranks(sources, holder);
    });
    if (is_restarted) restarted.push_back(rank);
  }
  if (restarted.empty()) return;
  const std::size_t n_ranks = restarted.size();
  diagnostics->add(Severity::kInfo, "rank.restarted", {}, n_ranks,
                   runfile::rank_ranges(std::move(restarted)) +
                       " of a task that starts ranks: processes that began after all earlier ones of the rank had "
                       "ended, as of workers that were started again");
}

// Calls `visit(first, second)` for two tasks of one rank, until it returns true: what is wrong with one rank is wrong
// with all.
template <typename Visit>
bool any_pair(const RankHolders& holders_of, const Visit& visit) {
  for (const auto& [rank, holders] : holders_of) {
    for (std::size_t i = 0; i < holders.size(); ++i) {
      for (std::size_t j = i + 1; j < holders.size(); ++j) {
        if (visit(holders[i], holders[j])) return true;
      }
    }
  }
  return false;
}

}  // namespace

void diagnose_ranks(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics) {
  const RankHolders holders_of = collect_holders(sources);
  find_restarted(sources, holders_of, diagnostics);
  const bool has_duplicate = any_pair(holders_of, [&](const Holder& first, const Holder& second) {
    if (!are_at_once(span_of_rank(sources, first), span_of_rank(sources, second))) return false;
    const PairFinding pair(sources, time, first, second);
    pair.add(Severity::kError, "rank.duplicate", " and at the same time on ",
             "two ranks have one number, or two runs one name" + pair.source_words() + ", JAXPROF_RUN tells runs apart",
             diagnostics);
    return true;
  });
  if (has_duplicate) return;
  any_pair(holders_of, [&](const Holder& first, const Holder& second) {
    const PairFinding pair(sources, time, first, second);
    const bool are_launchers = starts_ranks(sources, first) && starts_ranks(sources, second) &&
                               are_at_once(span_of_task(sources, first), span_of_task(sources, second));
    pair.add(Severity::kWarning, "rank.repeated", " and later on ",
             are_launchers ? "it was started again there, or two launchers both count from 0" + pair.source_words()
                           : "it was started again, or two runs had one name, and JAXPROF_RUN tells them apart",
             diagnostics);
    return true;
  });
}

}  // namespace jaxprof::assembly
