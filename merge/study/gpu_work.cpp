// Three tables of one order are merged by start.
#include "merge/study/gpu_work.h"

#include <algorithm>

#include "merge/study/kernel_name.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

IsWanted columns_of(std::string_view table, bool has_api) {
  return [table, has_api](std::string_view path) {
    if (!path.starts_with(table)) return false;
    path.remove_prefix(table.size());
    return path == "/start_ns" || path == "/dur_ns" || path == "/name" || path == "/kind" || path == "/device" ||
           path == "/flags" || (has_api && path == "/api");
  };
}

}  // namespace

std::string words_of(const GpuWork& work, const StringTable& strings) {
  constexpr std::size_t kWidth = 48;
  if (work.kernel != StringId::kEmpty) return short_name(demangled(strings.text(work.kernel)), kWidth);
  if (work.copy == MemopKind::kMissing) return "CUDA graph";
  return (work.copy == MemopKind::kMemset ? "" : "copy ") + std::string(word(work.copy));
}

Result<GpuWorkStream> GpuWorkStream::open(const StudyRun& run, bool has_api) {
  auto comm = CommWork::load(run.reader, run.tables.strings);
  if (!comm) return tl::unexpected(comm.error());
  auto kernels = RowCursor<KernelTable>::open(run.reader, columns_of("/events/kernels", has_api));
  if (!kernels) return tl::unexpected(kernels.error());
  auto memops = RowCursor<MemopTable>::open(run.reader, columns_of("/events/memops", has_api));
  if (!memops) return tl::unexpected(memops.error());
  auto graphs = RowCursor<GraphTable>::open(run.reader, columns_of("/events/graphs", false));
  if (!graphs) return tl::unexpected(graphs.error());
  return GpuWorkStream(run, std::move(*comm), std::move(*kernels), std::move(*memops), std::move(*graphs));
}

void GpuWorkStream::describe(const KernelTable& t, std::size_t i, std::uint64_t row, GpuWork& work) {
  work.kernel = t.name[i];
  work.work_class = comm_.is_comm_kernel(row, t.name[i]) ? WorkClass::kComm : WorkClass::kCompute;
  if (!t.api.empty()) work.api = t.api[i];
}

void GpuWorkStream::describe(const MemopTable& t, std::size_t i, std::uint64_t row, GpuWork& work) {
  work.copy = t.kind[i] == MemopKind::kMissing ? MemopKind::kUnknown : t.kind[i];
  work.work_class = comm_.is_comm_memop(row) ? WorkClass::kComm : WorkClass::kMemop;
  if (!t.api.empty()) work.api = t.api[i];
}

void GpuWorkStream::describe(const GraphTable&, std::size_t, std::uint64_t, GpuWork&) {
  ++n_graphs_;
}

// To the next row that has a time and lies in a window; none where the process's end.
template <typename Table>
Status GpuWorkStream::advance(Head<Table>& head) {
  head.has_work = false;
  while (head.row < head.end) {
    if (auto read = head.cursor.seek(head.row); !read) return read;
    const std::uint64_t begin = head.cursor.begin();
    const std::uint64_t end = std::min(head.end, head.cursor.end());
    const Table& t = head.cursor.table();
    while (head.row < end) {
      const std::uint64_t row = head.row++;
      const std::size_t i = row - begin;
      if (t.start_ns[i] < 0 || t.dur_ns[i] < 0) {
        ++n_without_time_;
      } else if ((t.flags[i] & kWorkOutside) != 0) {
        ++n_outside_;
      } else {
        head.work = GpuWork{t.start_ns[i], instant_after(t.start_ns[i], t.dur_ns[i]), t.device[i]};
        describe(t, i, row, head.work);
        head.has_work = true;
        return {};
      }
    }
  }
  return {};
}

Status GpuWorkStream::of_process(std::size_t process, const std::function<void(const GpuWork&)>& take) {
  const auto place = [process](auto& head, const std::vector<std::uint64_t>& offset) {
    head.row = process + 1 < offset.size() ? offset[process] : 0;
    head.end = process + 1 < offset.size() ? offset[process + 1] : 0;
  };
  place(kernels_, run_->kernel_process_offset);
  place(memops_, run_->memop_process_offset);
  place(graphs_, run_->graph_process_offset);
  auto status = advance(kernels_);
  if (status) status = advance(memops_);
  if (status) status = advance(graphs_);
  const auto is_first = [](const auto& head, const auto& a, const auto& b) {
    return head.has_work && (!a.has_work || head.work.start_ns <= a.work.start_ns) &&
           (!b.has_work || head.work.start_ns <= b.work.start_ns);
  };
  while (status) {
    if (is_first(kernels_, memops_, graphs_)) {
      take(kernels_.work);
      status = advance(kernels_);
    } else if (is_first(memops_, kernels_, graphs_)) {
      take(memops_.work);
      status = advance(memops_);
    } else if (graphs_.has_work) {
      take(graphs_.work);
      status = advance(graphs_);
    } else {
      break;
    }
  }
  return status;
}

bool gpu_work_wants(std::string_view path) {
  return path == "/events/kernels/process_offset" || path == "/events/memops/process_offset" ||
         path == "/events/graphs/process_offset" || path == "/events/api/process_offset";
}

bool has_gpu_work(const RunTables& run) {
  return run.kernel_process_offset.back() + run.memop_process_offset.back() + run.graph_process_offset.back() > 0;
}

}  // namespace jaxprof::study
