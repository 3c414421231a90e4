#include "merge/study/launch_times.h"

#include <algorithm>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kMostStretches = 8;  // 2 MiB each

}  // namespace

Result<LaunchTimes> LaunchTimes::open(const RunFileReader& reader) {
  return reader.count_rows<ApiTable>().map([&reader](std::uint64_t n_rows) { return LaunchTimes(reader, n_rows); });
}

std::int64_t LaunchTimes::begin_ns(std::uint64_t api) {
  if (api >= n_rows_) return kNoTime;
  const Stretch& found = stretch(api / kStretchRows);
  const std::uint64_t at = api % kStretchRows;
  return at < found.start_ns.size() ? found.start_ns[at] : kNoTime;
}

std::uint64_t LaunchTimes::tid(std::uint64_t api) {
  if (api >= n_rows_) return kNoRow;
  Stretch& found = stretch(api / kStretchRows);
  if (found.tid.empty()) {
    ApiTable rows;
    read(found.number, "/events/api/tid", rows);
    found.tid = std::move(rows.tid);
  }
  const std::uint64_t at = api % kStretchRows;
  return at < found.tid.size() ? found.tid[at] : kNoRow;
}

void LaunchTimes::read(std::uint64_t number, const char* column, ApiTable& rows) {
  const std::uint64_t first = number * kStretchRows;
  auto status = reader_->read_rows(rows, first, std::min(kStretchRows, n_rows_ - first),
                                   [column](std::string_view path) { return path == column; });
  if (!status && status_) status_ = std::move(status);
}

LaunchTimes::Stretch& LaunchTimes::stretch(std::uint64_t number) {
  ++uses_;
  for (const std::size_t i : {last_, std::size_t{0}}) {
    if (i < stretches_.size() && stretches_[i].number == number) return stretches_[last_ = i];
  }
  auto found = std::find_if(stretches_.begin(), stretches_.end(), [&](const auto& s) { return s.number == number; });
  if (found == stretches_.end()) {
    if (stretches_.size() < kMostStretches) {
      found = stretches_.insert(stretches_.end(), Stretch{});
    } else {
      found = std::min_element(stretches_.begin(), stretches_.end(),
                               [](const auto& a, const auto& b) { return a.last_use < b.last_use; });
    }
    ApiTable rows;
    read(number, "/events/api/start_ns", rows);
    *found = Stretch{number, uses_, std::move(rows.start_ns), {}};
  }
  found->last_use = uses_;
  last_ = static_cast<std::size_t>(found - stretches_.begin());
  return *found;
}

}  // namespace jaxprof::study
