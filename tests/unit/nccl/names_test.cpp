#include "agent/nccl/names.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace jaxprof::nccl
