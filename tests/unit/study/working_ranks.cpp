#include "tests/unit/study/working_ranks.h"

#include <algorithm>

#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study::test {

runfile::RunTables run_of_working_ranks(const std::vector<std::vector<std::int64_t>>& own_ns) {
  std::vector<Meeting> meetings;
  std::int64_t now_ns = kJobBeginNs;
  std::vector<MarkedStep> steps;
  for (std::size_t step = 0; step < own_ns.size(); ++step) {
    Meeting meeting;
    std::int64_t last_ns = 0;
    for (const std::int64_t own : own_ns[step]) {
      meeting.start_ns.push_back(now_ns + own);
      last_ns = std::max(last_ns, now_ns + own);
    }
    meeting.end_ns.assign(own_ns[step].size(), last_ns + kTransferNs);
    steps.push_back({static_cast<std::int64_t>(step), now_ns, last_ns + kTransferNs - now_ns});
    meetings.push_back(meeting);
    now_ns = last_ns + kTransferNs;
  }
  std::vector<std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < own_ns.front().size(); ++rank) members.push_back(rank);
  auto run = run_of_meetings({static_cast<std::uint32_t>(members.size()), 2, true, {members}}, meetings);
  for (std::uint32_t rank = 0; rank < members.size(); ++rank) add_steps(run, rank, steps);
  return run;
}

}  // namespace jaxprof::study::test
