// write_gpu_run PATH: a run whose GPUs do random work, with its launches, NCCL calls and NVTX ranges, for numpy to
// judge.
#include <cstdio>
#include <random>

#include "merge/runfile/run_file_writer.h"
#include "tests/unit/study/gpu_runs.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using namespace jaxprof;
  using study::test::Work;
  constexpr std::uint32_t kProcesses = 6;
  std::mt19937_64 random{2026};
  std::vector<Work> work;
  for (int i = 0; i < 6000; ++i) {
    Work one{.process = static_cast<std::uint32_t>(random() % kProcesses),
             .gpu = static_cast<std::int32_t>(random() % 2)};
    one.start_ns = static_cast<std::int64_t>(10'000 + random() % 9'000'000);
    one.dur_ns = static_cast<std::int64_t>(random() % 3'000);
    one.launch_ns = one.start_ns - static_cast<std::int64_t>(random() % 10'000);
    one.kernel = "kernel" + std::to_string(random() % 9);
    one.is_nccl = random() % 8 == 0;
    if (random() % 5 == 0) one.copy = random() % 2 == 0 ? runfile::MemopKind::kHtoD : runfile::MemopKind::kDtoH;
    if (one.copy) one.bytes = 1 + random() % 1'000'000;
    work.push_back(one);
  }
  auto run = run_of_work({.processes = kProcesses, .gpus = 2, .processes_of_node = 3, .end_ns = 10'000'000}, work);
  std::vector<study::test::Range> ranges;
  for (std::uint32_t process = 0; process < kProcesses; ++process) {
    for (std::int64_t k = 0; k < 200; ++k) {
      const auto outer = static_cast<std::int64_t>(ranges.size());
      const auto dur_ns = static_cast<std::int64_t>(1000 + random() % 30'000);
      ranges.push_back(
          {.process = process, .name = "outer", .start_ns = 40'000 * k, .dur_ns = dur_ns, .gpu_dur_ns = dur_ns / 2});
      ranges.push_back({.process = process,
                        .name = "inner" + std::to_string(random() % 3),
                        .start_ns = 40'000 * k + 100,
                        .dur_ns = static_cast<std::int64_t>(random() % 900),
                        .domain = "lib",
                        .parent = outer});
    }
  }
  set_ranges(run, ranges);
  const auto written = runfile::write_run_file(run, argv[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 5;
}
