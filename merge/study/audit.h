// Which nodes of a cluster are slow, and since when: a sheet a node over many runs.
#pragma once

#include "merge/study/node_sheet.h"
#include "merge/study/study.h"

namespace jaxprof::study {

// Of sheets in any order; `by` is kNode or kRun.
Table audit_sheets(std::vector<RunSheet> sheets, By by);
// Files that cannot be read are left out and named in a note; kInputUnreadable if none can.
Result<Table> audit(std::span<const std::string> run_files, const StudyOptions& options);

inline constexpr std::size_t kLeastMeetings = 8;  // runs in which a node is compared with others
inline constexpr double kAuditChance = 0.01;      // p of the sign test
inline constexpr double kAuditEffect = 0.05;      // how much slower than the others, in the median
inline constexpr double kAuditCritical = 0.15;

inline constexpr By kAuditGroupings[] = {By::kNode, By::kRun};

inline constexpr Study kAudit = {
    .name = "audit",
    .answers = "which nodes are slow over many runs, in what, and since when?",
    .definitions =
        R"(audit RUN.h5 ...: one row a node, by host name, over all run files; --by run: one a run and node.

  runs        in which processes of the node were recorded.
  Scores compare a node with the median of the nodes of the same run, of which there must be three; 1 is like the others, less is
  slower. A node's score is the median over its runs.
  gpu         compute kernels that all nodes of the run ran at least 20 times: usual median length / own, weighted by the
              time they took. What NVIDIA's resiliency extension calls a GPU score takes the fastest rank for the usual one;
              the median does not depend on one lucky rank.
  nic         the rate at which the node's slowest port sent at its busiest (p99 of the rates between readings) / that of the
              median node. Ports that moved less than 16 MiB do not count.
  own         own time of its ranks before collectives, since their previous one: usual / own. It holds what GPUs do, what the
              host does, and waiting for data. Of at least 20 collectives over several nodes whose order the clocks tell.
  last        share of those collectives in which one of its ranks came last.   blame   its share of what all waited for.
  slower      runs in which the score was worse than 1, of how many; p: two-sided sign test, under the hypothesis that a node
              is as often better as worse. effect: median of 1 - score.
  slow        named where at least 8 runs compare it, p < 0.01 and the effect exceeds 5 %; in gpu, nic or own, whichever has the
              largest effect. 15 % and more are critical.
  since       the first run from which on all runs were worse than 1 by 5 % in that score.
  trend       how much the score grew from the first run to the last (Theil and Sen's slope over the runs in order of time).
  bound       the worst bound of the node's clock.   dropped   events lost on it, all runs together.

  Runs are ordered by their last stamp. A node is known by its host name: boots differ from run to run.
)",
    .takes = kTakesTime,
    .compare = audit,
    .groupings = kAuditGroupings,
    .shown_rows = 64};

}  // namespace jaxprof::study
