// Runs whose GPUs do known work at known times, and the answers of studies that read them in stretches, for tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "merge/runfile/run_tables.h"
#include "merge/study/study.h"

namespace jaxprof::study::test {

struct Work {
  std::uint32_t process = 0;
  std::int32_t gpu = 0;  // of its process
  std::int64_t start_ns = 0;
  std::int64_t dur_ns = 0;
  std::string kernel = "gemm";               // unless it is a copy
  std::optional<runfile::MemopKind> copy{};  // a copy instead
  std::uint64_t bytes = 0;                   // of a copy
  std::int64_t launch_ns = -1;               // when the call that launched it began; -1: not recorded
  bool is_nccl = false;                      // it carries out an NCCL call of its own, an AllReduce of 1 KiB
  std::uint16_t flags = 0;
  std::uint64_t graph = runfile::kNoRow;
};

struct GpuPlan {
  std::uint32_t processes = 1;
  std::uint32_t gpus = 1;               // a process
  std::uint32_t processes_of_node = 0;  // 0: all on one node
  std::int64_t end_ns = 10'000;         // of all processes, which begin at 0: their time is one more
};

// `work` in any order. All calls are on one communicator of all processes.
runfile::RunTables run_of_work(const GpuPlan& plan, std::vector<Work> work);

struct Range {
  std::uint32_t process = 0;
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t dur_ns = 0;  // -1: never ended
  std::string domain{};
  std::int64_t parent = -1;  // position in the list; -1: none
  std::int64_t gpu_dur_ns = -1;
  std::uint32_t gpu_ops = 0;
  runfile::NvtxKind kind = runfile::NvtxKind::kPushPop;
};
// By process, then by start; of the thread that calls of run_of_work() are from.
void set_ranges(runfile::RunTables& run, const std::vector<Range>& ranges);

inline StudyOptions by(By grouping) {
  StudyOptions options;
  options.by = grouping;
  return options;
}
inline StudyOptions in_steps(const char* steps) {
  StudyOptions options;
  options.steps = steps;
  return options;
}
inline StudyOptions in_window(std::int64_t begin_ns, std::int64_t end_ns) {
  StudyOptions options;
  options.window = TimeSpan{begin_ns, end_ns};
  return options;
}

// What the study says of the run, by way of a file.
Table answer(const Study& study, const runfile::RunTables& run, const StudyOptions& options = {});

}  // namespace jaxprof::study::test
