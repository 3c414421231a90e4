// Outputs of nccl-tests as they are in the field: old and new columns, with a job's own lines between them.
#include "merge/study/nccl_tests_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::study {
namespace {

using runfile::Coll;
using runfile::Dtype;

constexpr const char* kOutput =
    R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 10 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid   1887 on   worker-1 device  0 [0x8d] Some GPU
#  Rank  1 Group  0 Pid   1888 on   worker-1 device  1 [0x91] Some GPU
#  Rank  2 Group  0 Pid   1885 on   worker-0 device  0 [0x8d] Some GPU
#  Rank  3 Group  0 Pid   1886 on   worker-0 device  1 [0x91] Some GPU
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
worker-0: INFO something else entirely
     1048576        262144     float     sum      -1    27.76   37.77   56.66      0    27.49   38.14   57.22      0
  4294967296    1073741824     float     sum      -1    10094  425.49  638.24      0    10141  423.52  635.28      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 745.53
)";

TEST(NcclTestsOutput, ReadsLinesAndRanks) {
  const auto reference = parse_nccl_tests(kOutput);
  ASSERT_TRUE(reference) << reference.error().message;
  EXPECT_EQ(reference->n_ranks, 4U);
  ASSERT_EQ(reference->times.size(), 2U);
  EXPECT_EQ(reference->times[1].size_bytes, 4294967296U);
  EXPECT_DOUBLE_EQ(reference->times[1].time_us, 10094);
  EXPECT_DOUBLE_EQ(reference->times[1].busbw_gb_per_s, 638.24);
}

TEST(NcclTestsOutput, ReadsColumnsWithoutARoot) {
  const auto reference = parse_nccl_tests(
      "1310720000 327680000 half sum 12000 109.23 163.84 0e+00 12001 109.2 163.8 0e+00\n"
      "2097152 524288 half 91.10 23.02 34.53 0 94.94 22.09 33.13 0\n");
  ASSERT_TRUE(reference);
  ASSERT_EQ(reference->times.size(), 2U);
  EXPECT_DOUBLE_EQ(reference->times[0].time_us, 12000);
  EXPECT_DOUBLE_EQ(reference->times[1].time_us, 91.10);
  EXPECT_EQ(reference->times[1].dtype, Dtype::kF16);
  EXPECT_EQ(reference->n_ranks, 0U);
}

TEST(NcclTestsOutput, FitsOnlyTheOperationWhoseFactorItPrinted) {
  const auto reference = parse_nccl_tests(kOutput);
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference_us(*reference, Coll::kAllReduce, Dtype::kF32, 1 << 20, 4), 27.76);
  EXPECT_EQ(reference_us(*reference, Coll::kAllGather, Dtype::kF32, 1 << 20, 4), std::nullopt);
  EXPECT_EQ(reference_us(*reference, Coll::kAllReduce, Dtype::kF16, 1 << 20, 4), std::nullopt);
  EXPECT_EQ(reference_us(*reference, Coll::kAllReduce, Dtype::kF32, 1 << 21, 4), std::nullopt);
  EXPECT_EQ(reference_us(*reference, Coll::kAllReduce, Dtype::kF32, 1 << 20, 8), std::nullopt);
}

TEST(NcclTestsOutput, RefusesWhatHasNoTable) {
  for (const char* text :
       {"", "# Rank 0\n", "1 2 float nan nan nan nan\n", "8 2 float sum -1 1.0 -3 4\n", "8 2 text sum -1 1.0 3 4\n"}) {
    const auto reference = parse_nccl_tests(text);
    ASSERT_FALSE(reference) << text;
    EXPECT_EQ(reference.error().code, ErrorCode::kInputUnreadable);
  }
  EXPECT_THAT(read_nccl_tests("/nonexistent").error().message, testing::HasSubstr("--ref /nonexistent: No such file"));
}

}  // namespace
}  // namespace jaxprof::study
