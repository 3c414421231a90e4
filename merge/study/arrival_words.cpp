#include "merge/study/arrival_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/runfile/word_list.h"
#include "merge/study/human.h"

namespace jaxprof::study {
namespace {

// The largest distance at which the clocks of an unresolved instance cannot tell; -1: not known of any.
std::int64_t largest_limit_ns(const runfile::RunTables& run, const Arrivals& arrivals, const Judged& judged) {
  const std::vector<std::int64_t> limit_ns = resolutions_ns(run, arrivals);
  std::int64_t largest_ns = -1;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (judged.is_counted[i] != 0 && !arrivals.has(i, kArrivalResolved)) largest_ns = std::max(largest_ns, limit_ns[i]);
  }
  return largest_ns;
}

}  // namespace

std::string count_of(std::size_t n, const char* thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

std::string arrival_heading(const Arrivals& arrivals, const Scope& scope, const Judged& judged) {
  std::string text = fmt::format("{}; arrival: {}", scope.words(),
                                 arrivals.is_gpu ? "start of the GPU kernel"
                                                 : "host enqueue, as no instance has GPU times: a rank's host may be "
                                                   "early and its GPU late");
  if (judged.lacks_members && judged.n > 0)
    text += "; some members were not recorded: late and waiting is among those that were";
  return text;
}

void add_arrival_notes(const runfile::RunTables& run, const Arrivals& arrivals, const Judged& judged, Table& table) {
  if (judged.n_unresolved > 0) {
    const std::int64_t limit_ns = largest_limit_ns(run, arrivals, judged);
    table.notes.push_back(
        fmt::format("unresolved: in {} of {} members came within {} of each other, which the nodes' clocks cannot tell "
                    "apart; nobody is blamed for these",
                    judged.n_unresolved, count_of(judged.n, "instance"),
                    limit_ns < 0 ? "an unknown time" : human_time(static_cast<double>(limit_ns))));
  }
  if (judged.n > 0 && judged.n < judged.n_asked) {
    table.notes.push_back(fmt::format("left out: {}, of which members were not recorded",
                                      count_of(judged.n_asked - judged.n, "instance")));
  }
  if (arrivals.n_without_times > 0) {
    table.notes.push_back(fmt::format("left out: {}, of which {}", count_of(arrivals.n_without_times, "instance"),
                                      arrivals.is_gpu ? "not all members have GPU times" : "members have no times"));
  }
  if (arrivals.n_captures > 0) {
    table.notes.push_back(fmt::format("left out: {} captured into CUDA graphs; their replays are counted",
                                      count_of(arrivals.n_captures, "instance")));
  }
}

std::string why_no_arrivals(const runfile::RunTables& run, const StudyOptions& options, const Arrivals& arrivals,
                            const Judged& judged) {
  if (run.nccl.start_ns.empty()) {
    return is_asked_for(run, "nccl")
               ? "the run file has no NCCL calls: neither NCCL's profiler plugin nor its NVTX ranges reported one; "
                 "jaxprof-study summary lists what is missing"
               : "the run file has no NCCL calls: -t " + run.attributes.trace + " did not ask for them; add nccl to it";
  }
  if (judged.n_asked > 0) {
    return fmt::format(
        "no instance has two members that can be compared: of {}, none has more than one that was "
        "recorded; trace at least two ranks of a communicator",
        count_of(judged.n_asked, "instance"));
  }
  if (arrivals.n_without_times > 0) {
    return fmt::format("of {} none has times for all members", count_of(arrivals.n_without_times, "instance"));
  }
  if (arrivals.size() == 0) return "the run file has NCCL calls, and none was matched to an instance of a collective";
  std::string filters;
  if (options.op) filters += " --op " + std::string(runfile::word(*options.op));
  if (!options.steps.empty()) filters += " --steps " + options.steps;
  if (options.segment) filters += fmt::format(" --segment {}", *options.segment);
  if (options.window) filters += " --window";
  return filters.empty() ? "no collective began in the steps that are looked at; --all-steps looks at all"
                         : "no collective fits" + filters;
}

}  // namespace jaxprof::study
