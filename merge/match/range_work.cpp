#include "merge/match/range_work.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::match {
namespace {

using runfile::kNoRow;
using runfile::kNoTime;

// A kernel or copy, by the call that launched it.
struct Launch {
  std::int64_t called_ns;
  std::int64_t start_ns;  // of the work; -1: not known
  std::int64_t end_ns;
};

using Launches = std::unordered_map<std::uint64_t, std::vector<Launch>>;  // by thread, by called_ns

template <typename Table>
void add_launches(const Table& work, const runfile::ApiTable& api, Launches* launches) {
  for (std::size_t row = 0; row < work.api.size(); ++row) {
    const std::uint64_t call = work.api[row];
    if (call == kNoRow || api.start_ns[call] < 0) continue;
    const bool has_times = work.start_ns[row] >= 0 && work.dur_ns[row] >= 0;
    const std::int64_t start_ns = has_times ? work.start_ns[row] : kNoTime;
    (*launches)[api.tid[call]].push_back({api.start_ns[call], start_ns, has_times ? start_ns + work.dur_ns[row] : 0});
  }
}

Launches launches_of(const GpuWork& work) {
  Launches launches;
  add_launches(work.kernels, work.api, &launches);
  add_launches(work.memops, work.api, &launches);
  const auto earlier = [](const Launch& a, const Launch& b) { return a.called_ns < b.called_ns; };
  for (auto& [tid, all] : launches) {
    if (!std::is_sorted(all.begin(), all.end(), earlier)) std::stable_sort(all.begin(), all.end(), earlier);
  }
  return launches;
}

class Projection {
 public:
  Projection(const GpuWork& work, runfile::NvtxTable* ranges)
      : ranges_(*ranges), launches_(launches_of(work)), first_ns_(n_ranges(), INT64_MAX), last_ns_(n_ranges()) {}

  void run() {
    if (launches_.empty()) return;
    std::map<std::pair<std::uint64_t, runfile::StringId>, std::vector<std::size_t>>
        stacks;  // rows by thread and domain
    for (std::size_t row = 0; row < n_ranges(); ++row) {
      if (!is_told(row)) continue;
      ranges_.gpu_ops[row] = 0;
      stacks[{ranges_.tid[row], ranges_.domain[row]}].push_back(row);
    }
    for (const auto& [thread, rows] : stacks) {
      const auto launches = launches_.find(thread.first);
      if (launches != launches_.end()) give_to_innermost(rows, launches->second);
    }
    give_to_outer();
    for (std::size_t row = 0; row < n_ranges(); ++row) {
      if (first_ns_[row] == INT64_MAX) continue;
      ranges_.gpu_start_ns[row] = first_ns_[row];
      ranges_.gpu_dur_ns[row] = last_ns_[row] - first_ns_[row];
    }
  }

 private:
  std::size_t n_ranges() const { return ranges_.start_ns.size(); }
  bool is_told(std::size_t row) const {
    return ranges_.kind[row] == runfile::NvtxKind::kPushPop && ranges_.dur_ns[row] != kNoTime;
  }
  std::int64_t end_ns(std::size_t row) const { return ranges_.start_ns[row] + ranges_.dur_ns[row]; }

  // `rows` are one thread's ranges of one domain, by start; they lie in each other or apart.
  void give_to_innermost(const std::vector<std::size_t>& rows, const std::vector<Launch>& launches) {
    std::vector<std::size_t> open;
    std::size_t next = 0;
    for (const Launch& launch : launches) {
      for (; next < rows.size() && ranges_.start_ns[rows[next]] <= launch.called_ns; ++next) {
        close_before(ranges_.start_ns[rows[next]], &open);
        open.push_back(rows[next]);
      }
      close_before(launch.called_ns, &open);
      if (open.empty()) continue;
      const std::size_t row = open.back();
      ranges_.gpu_ops[row] += 1;
      if (launch.start_ns == kNoTime) continue;
      first_ns_[row] = std::min(first_ns_[row], launch.start_ns);
      last_ns_[row] = std::max(last_ns_[row], launch.end_ns);
    }
  }

  void close_before(std::int64_t time_ns, std::vector<std::size_t>* open) const {
    while (!open->empty() && end_ns(open->back()) < time_ns) open->pop_back();
  }

  // A range stands behind the one around it, so that going backward each has all of its own when it gives it on.
  void give_to_outer() {
    for (std::size_t row = n_ranges(); row-- > 0;) {
      const std::uint64_t outer = ranges_.parent[row];
      if (!is_told(row) || outer == kNoRow || outer >= row || !is_told(outer)) continue;
      ranges_.gpu_ops[outer] += ranges_.gpu_ops[row];
      first_ns_[outer] = std::min(first_ns_[outer], first_ns_[row]);
      last_ns_[outer] = std::max(last_ns_[outer], last_ns_[row]);
    }
  }

  runfile::NvtxTable& ranges_;
  const Launches launches_;
  std::vector<std::int64_t> first_ns_;  // of the work of each range; INT64_MAX: none has times
  std::vector<std::int64_t> last_ns_;
};

}  // namespace

void project_ranges(const GpuWork& work, runfile::NvtxTable* ranges) {
  Projection(work, ranges).run();
}

}  // namespace jaxprof::match
