// What a merge reads is never what it writes to.
#include "merge/program/output_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "merge/program/options.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::merge {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& path) {
  const auto checked = check_output_name(path);
  if (checked) return "no error";
  EXPECT_EQ(checked.error().code, ErrorCode::kUsage);
  return checked.error().message;
}

TEST(OutputName, IsNoSpools) {
  for (const char* path : {"rank0.jxspool", "prof/rank0.jxspool.part", "/nowhere/x.jxspool"}) {
    EXPECT_THAT(refusal(path), HasSubstr(std::string("--output ") + path + ": this is the name of a spool"));
  }
}

TEST(OutputName, IsNotAmongARunsRecords) {
  const test::TempFolder folder;
  const std::string state = folder.file(".run-7.0.0");
  std::filesystem::create_directory(state);
  std::filesystem::create_directory_symlink(state, folder.file("link"));
  EXPECT_THAT(refusal(state + "/task.0.start.json"), HasSubstr(".run-7.0.0 holds a run's task records"));
  EXPECT_THAT(refusal(folder.file("link/x.h5")), HasSubstr(".run-7.0.0 holds a run's task records"));
}

TEST(OutputName, MayBeAnyOther) {
  for (const char* path : {"run.h5", "prof/run.h5", "jxspool", "rank0.jxspool.h5", "x.part"}) {
    EXPECT_TRUE(check_output_name(path)) << path;
  }
}

TEST(OutputName, IsCheckedWithTheOptionsAlsoWithForce) {
  const auto options = parse_options({"DIR", "-f", "-o", "DIR/x.jxspool"});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace jaxprof::merge
