#include "agent/nccl/names.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "agent/nccl/handle.h"

namespace jaxprof::nccl {
namespace {

TEST(Names, AreExactlyThoseOfNccl) {
  EXPECT_EQ(function_of("AllReduce"), spool::NcclFunction::kAllReduce);
  EXPECT_EQ(function_of("AlltoAll"), spool::NcclFunction::kAllToAll);
  EXPECT_EQ(function_of("allreduce"), spool::NcclFunction::kUnknown);
  EXPECT_EQ(type_of("ncclBfloat16"), spool::NcclType::kBfloat16);
  EXPECT_EQ(type_of("bfloat16"), spool::NcclType::kUnknown);
  EXPECT_EQ(algorithm_of("NVLS"), spool::NcclAlgorithm::kNvls);
  EXPECT_EQ(algorithm_of("NVLS_TREE"), spool::NcclAlgorithm::kNvlsTree);
  EXPECT_EQ(protocol_of("LL"), spool::NcclProtocol::kLl);
  EXPECT_EQ(protocol_of("LL128"), spool::NcclProtocol::kLl128);
  EXPECT_EQ(protocol_of(""), spool::NcclProtocol::kUnknown);
}

TEST(Names, NullIsUnknown) {
  EXPECT_EQ(function_of(nullptr), spool::NcclFunction::kUnknown);
  EXPECT_EQ(type_of(nullptr), spool::NcclType::kUnknown);
  EXPECT_EQ(algorithm_of(nullptr), spool::NcclAlgorithm::kUnknown);
  EXPECT_EQ(protocol_of(nullptr), spool::NcclProtocol::kUnknown);
}

TEST(Names, OfNccl223AreNumbers) {
  EXPECT_EQ(function_of(std::uint8_t{0}), spool::NcclFunction::kBroadcast);
  EXPECT_EQ(function_of(std::uint8_t{7}), spool::NcclFunction::kRecv);
  EXPECT_EQ(function_of(std::uint8_t{8}), spool::NcclFunction::kUnknown);
  EXPECT_EQ(type_of(std::uint8_t{1}), spool::NcclType::kUint8) << "which later releases call Unknown";
  EXPECT_EQ(type_of(std::uint8_t{10}), spool::NcclType::kUnknown);
  EXPECT_EQ(algorithm_of(std::uint8_t{6}), spool::NcclAlgorithm::kPat);
  EXPECT_EQ(algorithm_of(std::uint8_t{7}), spool::NcclAlgorithm::kUnknown);
  EXPECT_EQ(protocol_of(std::uint8_t{0}), spool::NcclProtocol::kLl);
  EXPECT_EQ(protocol_of(std::uint8_t{255}), spool::NcclProtocol::kUnknown);
}

TEST(Handle, BelongsToItsProcess) {
  const std::uint64_t number = 5ULL << 36 | 77;
  void* handle = make_handle(0x1235, number);
  EXPECT_EQ(handle_number(0x1235, handle), number);
  EXPECT_EQ(handle_number(0x1237, handle), 0u);
  EXPECT_EQ(handle_number(0x1235, nullptr), 0u);
  EXPECT_EQ(handle_number(0x1235, &handle), 0u) << "a pointer is no handle";
}

// A process that makes a thread a second has 65535 of them after 18 hours.
TEST(Handle, IsUniqueHoweverManyThreadsThereWere) {
  std::atomic<std::uint64_t> shared_count{0};
  std::set<std::uint64_t> numbers;
  const std::uint32_t threads[] = {1, 2, 65533, 65534, 65535, 65536, 65537, 131072, 131073, 4294967295};
  for (const std::uint32_t thread : threads) {
    std::uint64_t own_count = 0;  // each thread begins with its own
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t number = next_number(thread, &own_count, &shared_count);
      EXPECT_TRUE(numbers.insert(number).second) << "event " << i << " of thread " << thread;
      EXPECT_EQ(handle_number(0x1235, make_handle(0x1235, number)), number) << "nothing of it is cut off";
    }
  }
  EXPECT_EQ(numbers.count(kNumberMask), 0u) << "which no event has";
  EXPECT_EQ(numbers.count(0), 0u);
}

}  // namespace
}  // namespace jaxprof::nccl
