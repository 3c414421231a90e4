// Two tables, both by start, walked side by side: a stream's track needs its work in order of time.
#include "merge/export/gpu_tracks.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "merge/export/event_names.h"
#include "merge/export/lanes.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

bool is_kernel_column(std::string_view path) {
  constexpr std::array<std::string_view, 7> kColumns = {
      "/events/kernels/start_ns", "/events/kernels/dur_ns",      "/events/kernels/name", "/events/kernels/device",
      "/events/kernels/stream",   "/events/kernels/correlation", "/events/kernels/graph"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

bool is_memop_column(std::string_view path) {
  constexpr std::array<std::string_view, 10> kColumns = {
      "/events/memops/start_ns",    "/events/memops/dur_ns", "/events/memops/kind",   "/events/memops/bytes",
      "/events/memops/src",         "/events/memops/dst",    "/events/memops/device", "/events/memops/stream",
      "/events/memops/correlation", "/events/memops/graph"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

class GpuTracks {
 public:
  explicit GpuTracks(const ExportedProcess& process)
      : process_(process),
        steps_(process.axis, process.process),
        kernels_(process.reader, process.rows.kernels, is_kernel_column),
        memops_(process.reader, process.rows.memops, is_memop_column) {}

  Status run() {
    auto has_kernel = kernels_.next();
    auto has_memop = memops_.next();
    while (has_kernel && has_memop && (*has_kernel || *has_memop)) {
      const bool is_kernel = *has_kernel && (!*has_memop || kernels_.table().start_ns[kernels_.at()] <=
                                                                memops_.table().start_ns[memops_.at()]);
      if (is_kernel) {
        add_kernel(kernels_.table(), kernels_.at());
        has_kernel = kernels_.next();
      } else {
        add_memop(memops_.table(), memops_.at());
        has_memop = memops_.next();
      }
    }
    if (!has_kernel) return tl::unexpected(std::move(has_kernel.error()));
    if (!has_memop) return tl::unexpected(std::move(has_memop.error()));
    for (auto& [key, lanes] : streams_) lanes.finish();
    return {};
  }

 private:
  void add_kernel(const KernelTable& t, std::size_t i) {
    if (t.start_ns[i] < 0 || t.dur_ns[i] < 0) return;
    Slice slice = slice_of(t.start_ns[i], t.dur_ns[i], process_.name(t.name[i]), Category::kKernel);
    add_common(t, i, slice);
    stream(t.device[i], t.stream[i]).add(slice);
  }

  void add_memop(const MemopTable& t, std::size_t i) {
    if (t.start_ns[i] < 0 || t.dur_ns[i] < 0) return;
    const std::string_view kind = t.kind[i] == MemopKind::kMissing ? "memory operation" : word(t.kind[i]);
    Slice slice = slice_of(t.start_ns[i], t.dur_ns[i], process_.trace.name(kind), Category::kMemop);
    if (t.bytes[i] != kNoRow) slice.notes.add(NoteName::kSize, t.bytes[i]);
    if (t.src[i] != MemoryKind::kMissing) slice.notes.add_text(NoteName::kSource, process_.trace.text(word(t.src[i])));
    if (t.dst[i] != MemoryKind::kMissing) {
      slice.notes.add_text(NoteName::kDestination, process_.trace.text(word(t.dst[i])));
    }
    add_common(t, i, slice);
    stream(t.device[i], t.stream[i]).add(slice);
  }

  static Slice slice_of(std::int64_t start_ns, std::int64_t dur_ns, std::uint64_t name, Category category) {
    return {.start_ns = start_ns, .end_ns = study::instant_after(start_ns, dur_ns), .name = name, .category = category};
  }

  void add_common(const auto& t, std::size_t i, Slice& slice) {
    process_.add_step(steps_, t.start_ns[i], slice.notes);
    if (t.correlation[i] != kNoRow) slice.notes.add(NoteName::kCorrelation, t.correlation[i]);
    if (t.graph[i] != kNoRow) slice.notes.add(NoteName::kGraph, t.graph[i]);
  }

  // Most work is of the stream of the work before it.
  Lanes& stream(std::int32_t device, std::uint32_t number) {
    const std::pair key(device, number);
    if (last_ != nullptr && last_key_ == key) return *last_;
    auto at = streams_.find(key);
    if (at == streams_.end()) {
      TrackPlan plan{process_.track, name_of_gpu(process_.run, device), kThenStreams};
      if (number != kNoIndex) plan.name += fmt::format(" stream {}", number);
      at = streams_.try_emplace(key, process_.trace, std::move(plan), Overlap::kNever).first;
    }
    last_key_ = key;
    last_ = &at->second;
    return *last_;
  }

  const ExportedProcess& process_;
  StepWalk steps_;
  RowWalk<KernelTable> kernels_;
  RowWalk<MemopTable> memops_;
  std::map<std::pair<std::int32_t, std::uint32_t>, Lanes> streams_;
  std::pair<std::int32_t, std::uint32_t> last_key_;
  Lanes* last_ = nullptr;
};

}  // namespace

Status add_gpu_work(const ExportedProcess& process) {
  return GpuTracks(process).run();
}

}  // namespace jaxprof::exporting
