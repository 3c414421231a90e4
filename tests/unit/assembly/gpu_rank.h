// Processes with GPUs and NCCL, recorded, for tests of what the merge makes of them.
#pragma once

#include <cstdint>
#include <string>

#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::test {

inline constexpr std::uint64_t kStream = 0x77;
// CUPTI's clock is this much ahead of the event clock in these tests.
inline constexpr std::int64_t kGpuAhead = 5'000'000'000;

inline std::uint64_t gpu(std::uint64_t stamp) {
  return stamp + static_cast<std::uint64_t>(kGpuAhead);
}

// Member `rank` of two, on GPU 0 of its process: one AllReduce whose kernel starts `late` after 2000.
class GpuRank : public NcclRecording {
 public:
  explicit GpuRank(std::int32_t rank, std::uint64_t late = 0) : NcclRecording(rank, 2) {
    thread(1, 501);
    lane(1, 0, 13, kStream);
    for (std::uint64_t s = 0; s < 4; ++s)
      gpu_clock(s * 1'000'000'000, kGpuAhead + static_cast<std::int64_t>(s * 1'000'000'000));
    const auto group_call = group_api(1, 1000, 1500);
    const auto api = coll_api({}, group_call, 1010, 1020);
    const auto launched = launch(kStream, 1100, 1200);
    const auto plan = group(1250, 1400);
    coll({}, api, plan, 1300, 1310);
    external(launched, 7);
    api_call(gpu(1110), 50, 501, 7);
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", gpu(2000 + late), static_cast<std::int64_t>(1000 - late), 1, 7);
  }
  void device(std::uint8_t first_uuid_byte) {
    spool::GpuDeviceState fixed{};
    fixed.name = string("puppet GPU");
    fixed.uuid[0] = first_uuid_byte;
    fixed.capability = 90;
    fixed.memory_bytes = 1 << 20;
    state(spool::StateKind::kGpuDevice, fixed);
  }
};

inline runfile::RunTables merged(const GpuRank& first, const GpuRank& second, const std::string& second_host = "n1") {
  RunFolder run;
  run.add_rank(first, 0, 2, "n0");
  run.add_rank(second, 1, 2, second_host);
  return run.assemble().tables;
}

// The tables of a run of one rank.
inline runfile::RunTables alone(const Recording& recording) {
  RunFolder folder;
  folder.add_rank(recording, 0, 1, "n0");
  return folder.assemble().tables;
}

}  // namespace jaxprof::test
