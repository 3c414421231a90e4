#include "launcher/nearest_word.h"

#include <gtest/gtest.h>

#include <vector>

namespace jaxprof::launcher {
namespace {

const std::vector<std::string> kWords = {"cuda", "nvtx", "nccl", "nic", "gpu", "cuda-graph"};

TEST(NearestWord, TakesTheFewestChanges) {
  EXPECT_EQ(nearest_word("ncll", kWords), "nccl") << "two letters changed places or one";
  EXPECT_EQ(nearest_word("nvxt", kWords), "nvtx");
  EXPECT_EQ(nearest_word("cda", kWords), "cuda");
  EXPECT_EQ(nearest_word("cuda-grahp", kWords), "cuda-graph");
  EXPECT_EQ(nearest_word("gpus", kWords), "gpu");
  EXPECT_EQ(nearest_word("nccl", kWords), "nccl");
}

TEST(NearestWord, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest_word("foo", kWords), "");
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word("x", kWords), "");
  EXPECT_EQ(nearest_word("cuda-graph-nodes", kWords), "");
  EXPECT_EQ(nearest_word("nccl", std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace jaxprof::launcher
