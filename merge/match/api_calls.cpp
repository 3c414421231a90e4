#include "merge/match/api_calls.h"

#include <algorithm>
#include <span>

#include "merge/runfile/run_tables.h"

namespace jaxprof::match {
namespace {

// Work may be stamped a little before its launch; a number comes again hours later.
constexpr std::int64_t kStampErrorNs = 1'000'000;

}  // namespace

ApiCalls::ApiCalls(const runfile::ApiTable& api) : api_(api), outer_(api.correlation.size()) {
  std::vector<std::uint64_t> last;  // call of each correlation so far
  for (std::uint64_t row = 0; row < outer_.size(); ++row) {
    outer_[row] = row;
    if (api.correlation[row] == runfile::kNoRow) continue;
    const std::uint32_t number = correlations_.add(api.correlation[row]);
    if (number < last.size()) {
      const std::uint64_t before = last[number];
      const bool is_inner = api.start_ns[before] >= 0 &&
                            api.start_ns[row] <= api.start_ns[before] + std::max<std::int64_t>(api.dur_ns[before], 0);
      if (is_inner) {
        outer_[row] = before;
        continue;
      }
      last[number] = row;
    } else {
      last.push_back(row);
    }
    by_number_.add(number, row);
  }
  by_number_.settle();
}

std::uint64_t ApiCalls::launch_of(std::uint64_t correlation, std::int64_t start_ns) const {
  const std::span<const std::uint64_t> calls = by_number_.of(correlations_.find(correlation));
  if (calls.empty()) return runfile::kNoRow;
  // Those without a time come first.
  const auto timed =
      std::find_if(calls.begin(), calls.end(), [this](std::uint64_t row) { return api_.start_ns[row] >= 0; });
  const auto n_timed = calls.end() - timed;
  if (n_timed == 0) return calls.size() == 1 ? calls.front() : runfile::kNoRow;
  if (start_ns < 0) return n_timed == 1 ? *timed : runfile::kNoRow;
  const auto after =
      std::upper_bound(timed, calls.end(), start_ns + kStampErrorNs,
                       [this](std::int64_t value, std::uint64_t row) { return value < api_.start_ns[row]; });
  if (after != timed) return *(after - 1);
  // A call that began after it, so soon that it is no other of that number.
  return api_.start_ns[*timed] - start_ns < kShortestWrapNs ? *timed : runfile::kNoRow;
}

}  // namespace jaxprof::match
