// Processes with several GPUs, and what tells which of them a call was for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/gpu_rank.h"

namespace jaxprof::assembly {
namespace {

using runfile::Timing;
using test::findings;
using test::gpu;
using test::kGpuAhead;
using test::kStream;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Two members of one process, on GPUs 0 and 1, without the plugin.
class TwoMembers : public test::NcclRecording {
 public:
  TwoMembers() : NcclRecording(0, 2, false) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      thread(1 + i, 501 + i);
      lane(1 + i, i, 13, kStream + i);
      comm_range(static_cast<std::int32_t>(1 - i), 2, 10 + 10 * i, kComm, static_cast<std::int32_t>(i));
    }
    for (std::uint64_t s = 0; s < 4; ++s)
      gpu_clock(s * 1'000'000'000, kGpuAhead + static_cast<std::int64_t>(s * 1'000'000'000));
  }
  // A kernel on GPU `device` that thread 1 + `caller` launches at `stamp`.
  void launched(std::uint64_t stamp, std::uint32_t caller, std::uint32_t device) {
    api_call(gpu(stamp), 50, 501 + caller, stamp);
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", gpu(stamp + 500), 100, 1 + device, stamp);
  }
};

TEST(GpuMembers, TheKernelsGpuTellsWhichMemberCalled) {
  TwoMembers process;
  for (std::uint32_t i = 0; i < 2; ++i) {
    process.use_thread(1 + i);
    process.counted_range("ncclAllReduce", 1000 + 100 * i, 1090 + 100 * i, 64, 1 + i);
    process.launched(1010 + 100 * i, i, i);
  }
  test::RunFolder run;
  run.add_rank(process, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.nccl.comm_rank, ElementsAre(1, 0));
  EXPECT_THAT(tables.nccl.flags, Each(0));
  EXPECT_THAT(tables.nccl.seq, ElementsAre(0, 0));
  EXPECT_THAT(tables.collectives.n_seen, ElementsAre(2));
  EXPECT_THAT(tables.collectives.last_arrival, ElementsAre(0)) << "the rank on GPU 1";
}

TEST(GpuMembers, AGroupForSeveralGpusTellsNoCallsGpu) {
  TwoMembers process;
  process.range("ncclGroupStart", 1000, 1001);
  process.counted_range("ncclAllReduce", 1010, 1011, 64, 1);
  process.counted_range("ncclAllReduce", 1020, 1021, 64, 2);
  process.range("ncclGroupEnd", 1030, 1900);
  process.launched(1100, 0, 0);
  process.launched(1200, 0, 1);
  test::RunFolder run;
  run.add_rank(process, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_EQ(tables.nccl_work.call.size(), 4u) << "each call with each kernel";
  EXPECT_THAT(tables.nccl.device, Each(-1));
  EXPECT_THAT(tables.nccl.gpu_dur_ns, Each(-1)) << "which of the kernels is a call's is not known";
  EXPECT_THAT(tables.nccl.timing, Each(Timing::kEnqueue));
  EXPECT_THAT(tables.nccl.flags, Each(runfile::kCallOnSeveralGpus));
  EXPECT_THAT(findings(tables, "call.several-gpus"), ElementsAre(HasSubstr("2 NCCL calls have no GPU times")));
  EXPECT_THAT(tables.nccl.comm_rank, Each(-1));
  EXPECT_THAT(tables.nccl.seq, ElementsAre(0, 0));
}

}  // namespace
}  // namespace jaxprof::assembly
