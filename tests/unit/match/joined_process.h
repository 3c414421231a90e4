// A recording with GPUs, its calls joined with its GPU work as the merge does it. Without readings of CUPTI's clock
// that clock is CLOCK_REALTIME, so that event stamp t is GPU stamp gpu(t).
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "merge/assembly/gpu_reader.h"
#include "merge/clock/gpu_clock.h"
#include "merge/match/kernel_join.h"
#include "merge/runfile/run_tables.h"
#include "tests/unit/match/loaded_process.h"

namespace jaxprof::test {

constexpr std::uint64_t gpu(std::uint64_t stamp) {
  return 1'000'000'000 + stamp;
}

class JoinedProcess {
 public:
  explicit JoinedProcess(const Recording& recording) : process_(recording) {
    const auto wall = clock::AxisClock::fit(process_.trace().anchors());
    const auto clock = clock::GpuClockModel::fit(process_.trace().anchors(), wall);
    calls_ = process_.calls();
    work_ = assembly::read_gpu_work(process_.trace(), clock, {}, &strings_);
    join_ = match::join_kernels(process_.trace(), calls_, process_.plugin(), work_, strings_,
                                [&wall](std::uint64_t stamp) { return wall.axis_ns(stamp); });
  }

  const std::vector<match::NcclCall>& calls() const { return calls_.calls; }
  const match::GpuWork& work() const { return work_; }
  const match::NcclJoin& join() const { return join_; }

  // "call 0: kernel 1 external", sorted; a replay is "replay 2 of call 0: …".
  std::vector<std::string> pairs() const {
    std::vector<std::string> lines;
    for (const match::NcclWork& item : join_.work) {
      std::string call = "call " + std::to_string(item.call);
      if (item.call >= calls_.calls.size()) {
        const match::NcclReplay& replay = join_.replays[item.call - calls_.calls.size()];
        call = "replay " + std::to_string(replay.replay) + " of call " + std::to_string(replay.capture);
      }
      lines.push_back(call + ": " + (item.work.is_memop ? "copy " : "kernel ") + std::to_string(item.work.row) + " " +
                      std::string(runfile::word(item.path)));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  LoadedProcess process_;
  match::NcclCalls calls_;
  runfile::StringTable strings_;
  match::GpuWork work_;
  match::NcclJoin join_;
};

}  // namespace jaxprof::test
