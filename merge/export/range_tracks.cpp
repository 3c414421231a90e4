// In order of their start; of those that begin at once, the longest first.
#include "merge/export/range_tracks.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "merge/export/lanes.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

bool is_range_column(std::string_view path) {
  constexpr std::array<std::string_view, 9> kColumns = {
      "/events/nvtx/start_ns", "/events/nvtx/dur_ns",   "/events/nvtx/name",
      "/events/nvtx/domain",   "/events/nvtx/tid",      "/events/nvtx/payload",
      "/events/nvtx/kind",     "/events/nvtx/category", "/events/nvtx/payload_f64"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

bool is_parent_column(std::string_view path) {
  return path == "/events/nvtx/parent";
}

bool contains(const RowRuns& runs, std::uint64_t row) {
  const auto after = std::upper_bound(runs.begin(), runs.end(), row,
                                      [](std::uint64_t value, const RowRun& run) { return value < run.begin; });
  return after != runs.begin() && row < std::prev(after)->end;
}

class RangeTracks {
 public:
  explicit RangeTracks(const ExportedProcess& process)
      : process_(process),
        steps_(process.axis, process.process),
        walk_(process.reader, process.rows.nvtx, is_range_column) {}

  Status run() {
    for (;;) {
      const auto has_row = walk_.next();
      if (!has_row) return tl::unexpected(has_row.error());
      if (!*has_row) break;
      const std::int64_t start_ns = walk_.table().start_ns[walk_.at()];
      if (start_ns < 0) continue;
      if (!waiting_.empty() && waiting_.front().slice.start_ns != start_ns) add_waiting();
      waiting_.push_back(read());
    }
    add_waiting();
    for (auto& [key, lanes] : threads_) lanes.finish();
    return {};
  }

 private:
  struct Range {
    Slice slice;
    NvtxKind kind = NvtxKind::kMissing;
    std::uint64_t tid = 0;
  };

  Range read() {
    const NvtxTable& t = walk_.table();
    const std::size_t i = walk_.at();
    Range range{{.start_ns = t.start_ns[i], .name = process_.name(t.name[i]), .category = Category::kNvtx},
                t.kind[i],
                t.tid[i]};
    Slice& slice = range.slice;
    if (t.dur_ns[i] >= 0) {
      slice.end_ns = study::instant_after(t.start_ns[i], t.dur_ns[i]);
    } else {
      slice.end_ns = std::max(t.start_ns[i], process_.run.processes.end_ns[process_.process]);
      slice.notes.add_bool(NoteName::kNeverEnded, true);
    }
    process_.add_step(steps_, t.start_ns[i], slice.notes);
    if (t.domain[i] != kNoText) slice.notes.add_text(NoteName::kDomain, process_.trace.text(t.domain[i]));
    if (t.category[i] != kNoText) slice.notes.add_text(NoteName::kCategory, process_.trace.text(t.category[i]));
    if (t.payload[i] != kNoPayload) slice.notes.add_signed(NoteName::kPayload, t.payload[i]);
    if (t.payload_f64[i] == t.payload_f64[i]) slice.notes.add_real(NoteName::kPayload, t.payload_f64[i]);
    return range;
  }

  void add_waiting() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Range& a, const Range& b) { return a.slice.end_ns > b.slice.end_ns; });
    for (const Range& range : waiting_) {
      Lanes& lanes = thread(range.tid, range.kind == NvtxKind::kStartEnd);
      if (range.kind == NvtxKind::kMark) {
        lanes.mark(range.slice);
      } else {
        lanes.add(range.slice);
      }
    }
    waiting_.clear();
  }

  Lanes& thread(std::uint64_t tid, bool is_started) {
    const auto at = threads_.find({tid, is_started});
    if (at != threads_.end()) return at->second;
    TrackPlan plan{process_.track, tid == kNoRow ? std::string("NVTX") : fmt::format("NVTX thread {}", tid),
                   kThenRanges};
    if (is_started) plan.name += ", started and ended";
    return threads_.try_emplace({tid, is_started}, process_.trace, std::move(plan), Overlap::kInside).first->second;
  }

  const ExportedProcess& process_;
  StepWalk steps_;
  RowWalk<NvtxTable> walk_;
  std::vector<Range> waiting_;  // that begin at one instant
  std::map<std::pair<std::uint64_t, bool>, Lanes> threads_;
};

}  // namespace

Result<RowRuns> with_ranges_around(const RunFileReader& reader, RowRuns runs) {
  std::set<std::uint64_t> around;
  const auto take = [&](std::uint64_t parent, std::uint64_t row) {
    return parent < row && !contains(runs, parent) && around.insert(parent).second;
  };
  std::vector<std::uint64_t> to_follow;
  RowWalk<NvtxTable> walk(reader, runs, is_parent_column);
  for (;;) {
    const auto has_row = walk.next();
    if (!has_row) return tl::unexpected(has_row.error());
    if (!*has_row) break;
    const std::uint64_t parent = walk.table().parent[walk.at()];
    if (take(parent, walk.row())) to_follow.push_back(parent);
  }
  NvtxTable one;
  while (!to_follow.empty()) {
    const std::uint64_t row = to_follow.back();
    to_follow.pop_back();
    if (auto read = reader.read_rows(one, row, 1, is_parent_column); !read) return tl::unexpected(read.error());
    if (take(one.parent.front(), row)) to_follow.push_back(one.parent.front());
  }
  for (const std::uint64_t row : around) runs.push_back({row, row + 1});
  std::sort(runs.begin(), runs.end(), [](const RowRun& a, const RowRun& b) { return a.begin < b.begin; });
  return runs;
}

Status add_ranges(const ExportedProcess& process) {
  return RangeTracks(process).run();
}

}  // namespace jaxprof::exporting
