#include "merge/program/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::merge {
namespace {

TEST(Options, HaveDefaults) {
  const auto options = parse_options({"DIR"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->directory, "DIR");
  EXPECT_EQ(options->output, "run.h5");
  EXPECT_EQ(options->run, "");
  EXPECT_FALSE(options->may_replace || options->allows_partial || options->is_quiet || options->is_redacted);
}

TEST(Options, AreReadInAnyOrder) {
  const auto options =
      parse_options({"-f", "--run", "7.0.0", "DIR", "-o", "x.h5", "--allow-partial", "--redact", "--quiet"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->output, "x.h5");
  EXPECT_EQ(options->run, "7.0.0");
  EXPECT_TRUE(options->may_replace && options->allows_partial && options->is_quiet && options->is_redacted);
}

TEST(Options, ForceMayBeFollowedByTrueOrFalse) {
  EXPECT_TRUE(parse_options({"-f", "true", "DIR"})->may_replace);
  EXPECT_FALSE(parse_options({"--force-overwrite", "false", "DIR"})->may_replace);
  EXPECT_TRUE(parse_options({"--force-overwrite=true", "DIR"})->may_replace);
  EXPECT_EQ(parse_options({"-f", "DIR"})->directory, "DIR");
  EXPECT_EQ(parse_options({"DIR", "-f"})->directory, "DIR");
}

TEST(Options, SayWhatMayBeTakenOfTheMachine) {
  const auto options = parse_options({"DIR", "--compression", "none", "--threads", "3", "--memory", "64MB", "--scratch",
                                      "/tmp", "-o", "there/run.h5"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->compression, runfile::Compression::kNone);
  EXPECT_EQ(options->n_threads, 3u);
  EXPECT_EQ(options->memory_bytes, std::size_t{64} << 20);
  EXPECT_EQ(options->scratch, "/tmp");
  const auto plain = parse_options({"DIR", "-o", "there/run.h5"});
  EXPECT_EQ(plain->compression, runfile::Compression::kGzip);
  EXPECT_EQ(plain->scratch, "there/") << "beside the run file";
  EXPECT_EQ(parse_options({"DIR"})->scratch, ".");
  EXPECT_THAT(parse_options({"DIR", "--compression", "zip"}).error().message,
              testing::HasSubstr("zip not in {gzip,none}"));
  EXPECT_THAT(parse_options({"DIR", "--scratch", "/nonexistent"}).error().message, testing::HasSubstr("/nonexistent"));
  EXPECT_FALSE(parse_options({"DIR", "--threads", "0"}));
  EXPECT_FALSE(parse_options({"DIR", "--memory", "1kB"}));
}

TEST(Options, AreRefusedInOneLine) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{}, {"a", "b"}, {"DIR", "--unknown"}, {"DIR", "-o"}}) {
    const auto options = parse_options(wrong);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().code, ErrorCode::kUsage);
    EXPECT_THAT(options.error().message, testing::HasSubstr("--help"));
    EXPECT_THAT(options.error().message, testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(Options, HelpAndVersionAreTextToPrint) {
  EXPECT_THAT(parse_options({"--help"})->text, testing::HasSubstr("DIRECTORY"));
  EXPECT_EQ(parse_options({"--version"})->text, "jaxprof-merge " JAXPROF_VERSION "\n");
}

}  // namespace
}  // namespace jaxprof::merge
