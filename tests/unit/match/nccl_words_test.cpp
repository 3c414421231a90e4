#include "merge/match/nccl_words.h"

#include <gtest/gtest.h>

namespace jaxprof::match {
namespace {

using runfile::Coll;
using runfile::Redop;

TEST(NcclWords, ApisAreFoundWithAndWithoutConfig) {
  EXPECT_EQ(coll_of_api("ncclAllReduce"), Coll::kAllReduce);
  EXPECT_EQ(coll_of_api("ncclAllReduceConfig"), Coll::kAllReduce);
  EXPECT_EQ(coll_of_api("ncclBcast"), Coll::kBroadcast);
  EXPECT_EQ(coll_of_api("ncclCommInitRank"), std::nullopt);
  EXPECT_EQ(coll_of_api("Config"), std::nullopt);
  EXPECT_EQ(coll_of_api(""), std::nullopt);
  EXPECT_EQ(api_of_coll(Coll::kBroadcast), "ncclBroadcast");
  EXPECT_EQ(api_of_coll(Coll::kUnknown), "");
}

TEST(NcclWords, ReductionsGoByNameThenByNumber) {
  EXPECT_EQ(redop_of("Max", 0), Redop::kMax);
  EXPECT_EQ(redop_of("PreMulSum", 0), Redop::kOther);
  EXPECT_EQ(redop_of("", 1), Redop::kProd);
  EXPECT_EQ(redop_of("", 77), Redop::kOther);
}

TEST(NcclWords, EveryKnownTypeHasAWidthAndAWord) {
  for (int code = 1; code <= static_cast<int>(spool::NcclType::kFloat8E5m2); ++code) {
    EXPECT_GT(element_bytes(static_cast<spool::NcclType>(code)), 0u) << code;
    EXPECT_NE(dtype_of(static_cast<spool::NcclType>(code)), runfile::Dtype::kUnknown) << code;
  }
  EXPECT_EQ(element_bytes(static_cast<spool::NcclType>(200)), 0u);
  EXPECT_EQ(dtype_of(static_cast<spool::NcclType>(200)), runfile::Dtype::kUnknown);
}

}  // namespace
}  // namespace jaxprof::match
