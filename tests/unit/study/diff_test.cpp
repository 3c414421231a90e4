// Two run files that differ in a known way.
#include "merge/study/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <random>

#include "merge/runfile/run_file_writer.h"
#include "tests/unit/study/calls.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

class DiffTest : public testing::Test {
 protected:
  // Calls of two sizes on two ranks; those of 2048 bytes take `factor` times as long.
  std::string write(const char* name, double factor, std::uint64_t seed, int n_calls = 60) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<test::Call>> calls(2);
    for (int i = 0; i < n_calls; ++i) {
      for (auto& of_rank : calls) {
        const bool is_large = i % 2 == 1;
        const auto noise = static_cast<std::int64_t>(random() % 200);
        const std::int64_t gpu_ns = is_large ? static_cast<std::int64_t>(factor * 20'000) + noise : 10'000 + noise;
        of_rank.push_back({.size_bytes = is_large ? 2048U : 1024U, .gpu_ns = gpu_ns});
      }
    }
    const std::string path = testing::TempDir() + "diff_" + std::to_string(::getpid()) + name;
    runfile::RunTables run = test::run_of(calls);
    EXPECT_TRUE(runfile::write_run_file(run, path, {.may_replace = true}));
    written_.push_back(path);
    return path;
  }
  void TearDown() override {
    for (const std::string& path : written_) std::remove(path.c_str());
  }
  std::vector<std::string> written_;
};

TEST_F(DiffTest, FindsWhatIsSlowerAndNothingElse) {
  const std::vector<std::string> files = {write("a.h5", 1, 1), write("b.h5", 1.1, 2)};
  const auto table = diff(files, {});
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_THAT(std::get<std::string>(table->rows[0][1]), HasSubstr("2 KiB"));
  EXPECT_THAT(table->verdict, HasSubstr("of 2 kinds of calls and kernels 1 slower, 0 faster; most: AllReduce"));
  EXPECT_THAT(table->verdict, HasSubstr("+"));
}

TEST_F(DiffTest, FindsNothingBetweenEqualRuns) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<std::string> files = {write("a.h5", 1, 2 * seed), write("b.h5", 1, 2 * seed + 1)};
    const auto table = diff(files, {});
    ASSERT_TRUE(table);
    EXPECT_THAT(table->verdict, HasSubstr("0 slower, 0 faster")) << seed;
  }
}

TEST_F(DiffTest, ListsWhatOnlyOneRunHas) {
  const std::vector<std::string> files = {write("a.h5", 1, 1, 1), write("b.h5", 1, 2)};
  const auto table = diff(files, {});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 2U);
}

TEST_F(DiffTest, TakesTwoFilesThatCanBeRead) {
  const std::string a = write("a.h5", 1, 1);
  EXPECT_THAT(diff(std::vector<std::string>{a}, {}).error().message, HasSubstr("compares two run files, 1 given"));
  EXPECT_EQ(diff(std::vector<std::string>{a, "/nonexistent.h5"}, {}).error().code, ErrorCode::kInputUnreadable);
}

}  // namespace
}  // namespace jaxprof::study
