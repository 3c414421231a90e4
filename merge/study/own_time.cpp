// A process's work, sorted by start, is walked beside the stretches of its lanes. Three covers grow along the way: of
// compute, of compute and copies, of all; what each adds within a stretch is its part.
#include "merge/study/own_time.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

enum class WorkKind : std::uint8_t { kCompute, kCopy, kComm };

struct Work {
  TimeSpan span;
  std::int64_t launch_ns = -1;  // -1: not told
  std::uint32_t lane = 0;
  WorkKind kind = WorkKind::kCompute;
};

// A stretch of own time.
struct Stretch {
  TimeSpan span;
  std::int64_t call_ns = -1;  // the host calls the operation at its end
  std::uint32_t step = 0;
};

// The lanes' stretches, by lane.
struct Stretches {
  std::vector<std::size_t> offset;
  std::vector<Stretch> all;
  std::span<const Stretch> of(std::size_t lane) const {
    return std::span(all).subspan(offset[lane], offset[lane + 1] - offset[lane]);
  }
};

Stretches stretches_of(const RunTables& run, const Arrivals& arrivals, const Judged& judged, const Subjects& lanes) {
  const ArrivalMembers& members = arrivals.members;
  const auto is_wanted = [&](std::size_t instance) {
    return judged.is_counted[instance] != 0 && arrivals.has(instance, kArrivalSynchronizing);
  };
  Stretches found;
  found.offset.assign(lanes.size() + 2, 0);
  const auto for_each = [&](auto take) {
    for (std::size_t instance = 0; instance < arrivals.size(); ++instance) {
      if (!is_wanted(instance)) continue;
      for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
        if (members.previous[i] != kNoMember) take(instance, i);
      }
    }
  };
  for_each([&](std::size_t, std::size_t i) { ++found.offset[lanes.of(i) + 2]; });
  std::partial_sum(found.offset.begin(), found.offset.end(), found.offset.begin());
  found.all.resize(found.offset.back());
  for_each([&](std::size_t instance, std::size_t i) {
    const std::int32_t step = arrivals.instances.step[instance];
    const std::uint64_t call = members.call[i];
    found.all[found.offset[lanes.of(i) + 1]++] = {{members.end_ns[members.previous[i]], members.start_ns[i]},
                                                  run.nccl.start_ns[call],
                                                  step > 0 ? static_cast<std::uint32_t>(step) : 0};
  });
  found.offset.pop_back();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto begin = found.all.begin() + static_cast<std::ptrdiff_t>(found.offset[lane]);
    const auto end = found.all.begin() + static_cast<std::ptrdiff_t>(found.offset[lane + 1]);
    const auto is_before = [](const Stretch& a, const Stretch& b) { return a.span.end_ns < b.span.end_ns; };
    if (!std::is_sorted(begin, end, is_before)) std::sort(begin, end, is_before);
    for (auto stretch = begin; stretch != end && stretch + 1 != end; ++stretch) {
      TimeSpan& next = std::next(stretch)->span;
      next.begin_ns = std::clamp(stretch->span.end_ns, next.begin_ns, next.end_ns);
    }
  }
  return found;
}

// Grows along one lane's work.
class Walk {
 public:
  Walk(std::span<const Work> works, OwnTime& to, std::size_t lane) : works_(works), to_(to), lane_(lane) {}

  void pass(const Stretch& stretch) {
    const std::int64_t begin_ns = stretch.span.begin_ns;
    const std::int64_t end_ns = stretch.span.end_ns;
    for (; next_ < works_.size() && works_[next_].span.begin_ns < begin_ns; ++next_) cover(works_[next_]);
    part_ = {};
    for (Cover* cover : {&compute_, &busy_, &all_}) {
      cover->end_ns = std::max(cover->end_ns, begin_ns);
      cover->length_ns = std::min(cover->end_ns, end_ns) - begin_ns;
      cover->limit_ns = end_ns;
    }
    for (; next_ < works_.size() && works_[next_].span.begin_ns < end_ns; ++next_) {
      const Work& work = works_[next_];
      if (work.span.begin_ns > all_.end_ns) add_gap(work.span.begin_ns, work.launch_ns);
      cover(work);
    }
    if (end_ns > all_.end_ns) add_gap(end_ns, stretch.call_ns);
    add(stretch);
  }

 private:
  struct Cover {
    std::int64_t end_ns = -1;
    std::int64_t length_ns = 0;  // within the stretch
    std::int64_t limit_ns = -1;  // its end

    void add(TimeSpan span) {
      length_ns += std::max<std::int64_t>(0, std::min(span.end_ns, limit_ns) - std::max(span.begin_ns, end_ns));
      end_ns = std::max(end_ns, span.end_ns);
    }
  };
  struct Part {
    std::int64_t host_ns = 0;
    std::int64_t idle_ns = 0;
  };

  void cover(const Work& work) {
    if (work.kind == WorkKind::kCompute) compute_.add(work.span);
    if (work.kind != WorkKind::kComm) busy_.add(work.span);
    all_.add(work.span);
  }

  void add_gap(std::int64_t to_ns, std::int64_t launch_ns) {
    const std::int64_t gap_ns = to_ns - all_.end_ns;
    if (launch_ns >= all_.end_ns) {
      part_.host_ns += gap_ns;
    } else if (launch_ns < 0) {
      part_.idle_ns += gap_ns;
    }
  }

  void add(const Stretch& stretch) {
    const std::size_t i = to_.at(stretch.step, lane_);
    const std::int64_t length_ns = stretch.span.end_ns - stretch.span.begin_ns;
    const std::int64_t copy_ns = busy_.length_ns - compute_.length_ns;
    const auto add_to = [i](std::vector<std::int64_t>& sums, std::int64_t ns) { sums[i] = instant_after(sums[i], ns); };
    add_to(to_.compute_ns, compute_.length_ns);
    add_to(to_.copy_ns, copy_ns);
    add_to(to_.host_ns, part_.host_ns);
    add_to(to_.rest_ns, length_ns - compute_.length_ns - copy_ns - part_.host_ns);
    add_to(to_.idle_ns, part_.idle_ns);
    if (stretch.call_ns >= 0) add_to(to_.enqueue_ns, span_ns(stretch.span.begin_ns, stretch.call_ns));
    ++to_.n_calls[i];
  }

  std::span<const Work> works_;
  OwnTime& to_;
  std::size_t lane_;
  std::size_t next_ = 0;
  Cover compute_, busy_, all_;
  Part part_;
};

// Which kernels and copies carried out calls of NCCL, a bit a row.
struct CommRows {
  std::vector<bool> kernels;
  std::vector<bool> memops;
  static bool has(const std::vector<bool>& rows, std::uint64_t row) { return row < rows.size() && rows[row]; }
};

void mark(const NcclWorkTable& part, CommRows& rows) {
  for (const std::uint64_t row : part.kernel) {
    if (row < rows.kernels.size()) rows.kernels[row] = true;
  }
  for (const std::uint64_t row : part.memop) {
    if (row < rows.memops.size()) rows.memops[row] = true;
  }
}

Result<CommRows> comm_rows(const RunTables& run, const RunFileReader* reader) {
  CommRows rows;
  if (reader == nullptr) {
    rows.kernels.resize(run.kernels.start_ns.size());
    rows.memops.resize(run.memops.start_ns.size());
    mark(run.nccl_work, rows);
    return rows;
  }
  const auto n = reader->count_rows<NcclWorkTable>();
  const auto n_kernels = reader->count_rows<KernelTable>();
  const auto n_memops = reader->count_rows<MemopTable>();
  for (const auto* count : {&n, &n_kernels, &n_memops}) {
    if (!*count) return tl::unexpected(count->error());
  }
  rows.kernels.resize(*n_kernels);
  rows.memops.resize(*n_memops);
  constexpr std::uint64_t kAtOnce = 1'048'576;
  for (std::uint64_t first = 0; first < *n; first += kAtOnce) {
    NcclWorkTable part;
    const auto read = reader->read_rows(part, first, std::min(kAtOnce, *n - first),
                                        [](std::string_view path) { return !path.ends_with("/path"); });
    if (!read) return tl::unexpected(read.error());
    mark(part, rows);
  }
  return rows;
}

// Rows [first, first + count) of a column in memory.
template <typename T>
std::vector<T> slice(const std::vector<T>& column, std::uint64_t first, std::uint64_t count) {
  const auto begin = column.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// Reads one process's work after the other.
class WorkReader {
 public:
  WorkReader(const RunTables& run, const RunFileReader* reader, CommRows comm)
      : run_(run), reader_(reader), comm_(std::move(comm)) {}

  // By lane and start. `lane_of` is by device; of work without one, `lane` is taken.
  Status read(std::size_t process, const std::vector<std::uint32_t>& lane_of, std::uint32_t lane,
              std::vector<Work>& works) {
    works.clear();
    const auto rows = [process](const std::vector<std::uint64_t>& offset) {
      return process + 1 < offset.size() ? std::pair(offset[process], offset[process + 1] - offset[process])
                                         : std::pair<std::uint64_t, std::uint64_t>(0, 0);
    };
    const auto [kernel, n_kernels] = rows(run_.kernel_process_offset);
    const auto [memop, n_memops] = rows(run_.memop_process_offset);
    if (n_kernels + n_memops == 0) return {};
    const auto [api, n_api] = rows(run_.api_process_offset);
    first_api_ = api;
    if (auto read = read_rows(api_, run_.api, api, n_api); !read) return read;
    if (auto read = read_rows(kernels_, run_.kernels, kernel, n_kernels); !read) return read;
    if (auto read = read_rows(memops_, run_.memops, memop, n_memops); !read) return read;
    const auto lane_at = [&](std::int32_t device) {
      return device >= 0 && lane_of[static_cast<std::size_t>(device)] != kNoIndex
                 ? lane_of[static_cast<std::size_t>(device)]
                 : lane;
    };
    works.reserve(n_kernels + n_memops);
    for (std::size_t i = 0; i < n_kernels; ++i) {
      const bool is_comm = CommRows::has(comm_.kernels, kernel + i);
      add(kernels_.start_ns[i], kernels_.dur_ns[i], kernels_.api[i], lane_at(kernels_.device[i]),
          is_comm ? WorkKind::kComm : WorkKind::kCompute, works);
    }
    for (std::size_t i = 0; i < n_memops; ++i) {
      add(memops_.start_ns[i], memops_.dur_ns[i], memops_.api[i], lane_at(memops_.device[i]),
          CommRows::has(comm_.memops, memop + i) ? WorkKind::kComm : WorkKind::kCopy, works);
    }
    std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) {
      return std::pair(a.lane, a.span.begin_ns) < std::pair(b.lane, b.span.begin_ns);
    });
    return {};
  }

 private:
  static bool is_read(std::string_view path) {
    return path.ends_with("/start_ns") || path.ends_with("/dur_ns") || path.ends_with("/api") ||
           path.ends_with("/device");
  }

  template <typename Table>
  Status read_rows(Table& to, const Table& in_memory, std::uint64_t first, std::uint64_t count) {
    to = Table{};
    if (count == 0) return {};
    if (reader_ != nullptr) return reader_->read_rows(to, first, count, is_read);
    to.start_ns = slice(in_memory.start_ns, first, count);
    if constexpr (!std::is_same_v<Table, ApiTable>) {
      to.dur_ns = slice(in_memory.dur_ns, first, count);
      to.device = slice(in_memory.device, first, count);
      to.api = slice(in_memory.api, first, count);
    }
    return {};
  }

  void add(std::int64_t start_ns, std::int64_t dur_ns, std::uint64_t api, std::uint32_t lane, WorkKind kind,
           std::vector<Work>& works) const {
    if (start_ns < 0 || dur_ns < 0 || lane == kNoIndex) return;
    const bool is_told = api != kNoRow && api >= first_api_ && api - first_api_ < api_.start_ns.size();
    works.push_back(
        {{start_ns, instant_after(start_ns, dur_ns)}, is_told ? api_.start_ns[api - first_api_] : -1, lane, kind});
  }

  const RunTables& run_;
  const RunFileReader* reader_;
  CommRows comm_;
  std::uint64_t first_api_ = 0;
  KernelTable kernels_;
  MemopTable memops_;
  ApiTable api_;
};

// By device, its lane; by process, the lane of what has no device.
struct LaneIndex {
  std::vector<std::uint32_t> of_device;
  std::vector<std::uint32_t> of_process;
};

LaneIndex index_of(const RunTables& run, const Arrivals& arrivals, const Subjects& lanes) {
  LaneIndex index;
  index.of_device.assign(run.devices.device.size(), kNoIndex);
  index.of_process.assign(run.processes.process.size(), kNoIndex);
  for (std::size_t i = 0; i < arrivals.members.call.size(); ++i) {
    index.of_process[arrivals.members.process[i]] = lanes.of(i);
    if (arrivals.members.device[i] >= 0) {
      index.of_device[static_cast<std::size_t>(arrivals.members.device[i])] = lanes.of(i);
    }
  }
  return index;
}

}  // namespace

Result<OwnTime> own_time(const RunTables& run, const RunFileReader* reader_or_null, const Arrivals& arrivals,
                         const Judged& judged, const Subjects& lanes, std::size_t n_steps) {
  OwnTime found;
  found.n_steps = std::max<std::size_t>(1, n_steps);
  found.n_lanes = lanes.size();
  for (auto* sums :
       {&found.compute_ns, &found.host_ns, &found.copy_ns, &found.rest_ns, &found.idle_ns, &found.enqueue_ns}) {
    sums->assign(found.n_steps * found.n_lanes, 0);
  }
  found.n_calls.assign(found.n_steps * found.n_lanes, 0);
  auto comm = comm_rows(run, reader_or_null);
  if (!comm) return tl::unexpected(std::move(comm.error()));
  const Stretches stretches = stretches_of(run, arrivals, judged, lanes);
  const LaneIndex index = index_of(run, arrivals, lanes);
  WorkReader reader(run, reader_or_null, std::move(*comm));
  std::vector<Work> works;
  std::vector<std::uint8_t> is_done(lanes.size(), 0);
  const auto walk = [&](std::size_t lane, std::span<const Work> own) {
    Walk along(own, found, lane);
    for (const Stretch& stretch : stretches.of(lane)) along.pass(stretch);
    is_done[lane] = 1;
  };
  for (std::size_t process = 0; process < run.processes.process.size(); ++process) {
    if (auto read = reader.read(process, index.of_device, index.of_process[process], works); !read) {
      return tl::unexpected(std::move(read.error()));
    }
    found.has_work = found.has_work || !works.empty();
    for (std::size_t begin = 0, end = 0; begin < works.size(); begin = end) {
      while (end < works.size() && works[end].lane == works[begin].lane) ++end;
      if (is_done[works[begin].lane] == 0) walk(works[begin].lane, std::span(works).subspan(begin, end - begin));
    }
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (is_done[lane] == 0) walk(lane, {});
  }
  return found;
}

}  // namespace jaxprof::study
