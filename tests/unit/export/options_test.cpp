#include "merge/export/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::exporting {
namespace {

using testing::HasSubstr;

std::string refusal(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (options) return "no error";
  EXPECT_EQ(options.error().code, ErrorCode::kUsage);
  EXPECT_EQ(options.error().message.find('\n'), std::string::npos);
  return options.error().message;
}

TEST(ExportOptions, TakesWhatIsToBeInTheTrace) {
  const auto options = parse_options({"--perfetto", "x.pftrace", "run.h5", "--ranks", "0,8-15", "--window", "1ms:2ms",
                                      "--segment", "3", "--max-slices", "7"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->run_file, "run.h5");
  EXPECT_EQ(options->perfetto, "x.pftrace");
  EXPECT_EQ(options->filters.ranks, "0,8-15");
  EXPECT_EQ(options->filters.window, (study::TimeSpan{1'000'000, 2'000'000}));
  EXPECT_EQ(options->filters.segment, 3U);
  EXPECT_EQ(options->max_slices, 7U);
}

TEST(ExportOptions, SaysWhatIsWrong) {
  EXPECT_THAT(refusal({"run.h5"}), HasSubstr("nothing to write"));
  EXPECT_THAT(refusal({"run.h5", "--csv", "d", "--ranks", "1"}), HasSubstr("are of --perfetto"));
  EXPECT_THAT(refusal({"--perfetto", "x"}), HasSubstr("no run file given"));
  EXPECT_THAT(refusal({"run.h5", "--perfetto", "run.h5"}), HasSubstr("is the run file itself"));
  EXPECT_THAT(refusal({"run.h5", "--perfetto", "x", "--ranks", "a"}), HasSubstr("--ranks: not a list of ranks"));
  EXPECT_THAT(refusal({"run.h5", "--perfetto", "x", "--steps", "-"}), HasSubstr("--steps: not a list of steps"));
  EXPECT_THAT(refusal({"run.h5", "--perfetto", "x", "--window", "5:1"}), HasSubstr("--window"));
  EXPECT_THAT(refusal({"run.h5", "--perfetto", "x", "--segment", "-1"}), HasSubstr("--segment"));
  EXPECT_THAT(refusal({"run.h5", "--perfetto", "x", "--whole-run", "--steps", "1"}), HasSubstr("contradicts"));
}

}  // namespace
}  // namespace jaxprof::exporting
