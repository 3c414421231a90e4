// All that GPUs of a process did, kernels, copies and CUDA graphs that were recorded as a whole, in order of its start,
// from tables that do not fit into memory. What has no time, and what lies outside of windows, is left out and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "merge/study/kernel_class.h"
#include "merge/study/row_cursor.h"
#include "merge/study/study.h"

namespace jaxprof::study {

// What it is for. Kernels and copies that carry out NCCL calls are communication; a CUDA graph of which only the whole
// was recorded is taken for compute.
enum class WorkClass : std::uint8_t { kCompute, kComm, kMemop };

struct GpuWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // at or after start_ns
  std::int32_t device = -1;
  WorkClass work_class = WorkClass::kCompute;
  runfile::StringId kernel{};                              // empty: no kernel
  runfile::MemopKind copy = runfile::MemopKind::kMissing;  // missing: no copy
  std::uint64_t api = runfile::kNoRow;                     // row of /events/api that launched it
};

// "gemm", "copy HtoD", "memset", "CUDA graph".
std::string words_of(const GpuWork& work, const runfile::StringTable& strings);

// One thread at a time.
class GpuWorkStream {
 public:
  // With `has_api` each work's api is read as well. kInputUnreadable.
  static Result<GpuWorkStream> open(const StudyRun& run, bool has_api);

  // Calls take for each work of the process, by start. kInputUnreadable.
  Status of_process(std::size_t process, const std::function<void(const GpuWork&)>& take);

  // Of the processes so far.
  std::int64_t n_without_time() const { return n_without_time_; }
  std::int64_t n_outside() const { return n_outside_; }
  std::int64_t n_graphs() const { return n_graphs_; }

 private:
  // Where in a table the process is.
  template <typename Table>
  struct Head {
    RowCursor<Table> cursor;
    std::uint64_t row = 0;
    std::uint64_t end = 0;
    GpuWork work{};
    bool has_work = false;
  };
  GpuWorkStream(const StudyRun& run, CommWork comm, RowCursor<runfile::KernelTable> kernels,
                RowCursor<runfile::MemopTable> memops, RowCursor<runfile::GraphTable> graphs)
      : run_(&run.tables),
        comm_(std::move(comm)),
        kernels_{std::move(kernels)},
        memops_{std::move(memops)},
        graphs_{std::move(graphs)} {}
  template <typename Table>
  Status advance(Head<Table>& head);
  void describe(const runfile::KernelTable& t, std::size_t i, std::uint64_t row, GpuWork& work);
  void describe(const runfile::MemopTable& t, std::size_t i, std::uint64_t row, GpuWork& work);
  void describe(const runfile::GraphTable& t, std::size_t i, std::uint64_t row, GpuWork& work);

  const runfile::RunTables* run_;
  CommWork comm_;
  Head<runfile::KernelTable> kernels_;
  Head<runfile::MemopTable> memops_;
  Head<runfile::GraphTable> graphs_;
  std::int64_t n_without_time_ = 0;
  std::int64_t n_outside_ = 0;
  std::int64_t n_graphs_ = 0;
};

// The columns that it needs in memory; rows it reads itself.
bool gpu_work_wants(std::string_view path);

// Rows of GPU work that the run file has, of whatever kind.
bool has_gpu_work(const runfile::RunTables& run);

}  // namespace jaxprof::study
