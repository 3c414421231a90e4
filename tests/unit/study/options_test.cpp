// The command line: what is asked, and one line for what is wrong.
#include "merge/study/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

std::string refusal(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (options) return "no error";
  EXPECT_EQ(options.error().code, ErrorCode::kUsage);
  EXPECT_EQ(options.error().message.find('\n'), std::string::npos);
  return options.error().message;
}

TEST(StudyOptions, TakesEveryOptionInAnyOrder) {
  const auto options = parse_options(
      {"--op", "allreduce", "spread", "--wide", "run.h5", "--format", "csv", "--ranks", "0,8-15", "--out", "x.csv"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_STREQ(options->study->name, "spread");
  EXPECT_EQ(options->run_files, std::vector<std::string>{"run.h5"});
  EXPECT_EQ(options->filters.op, runfile::Coll::kAllReduce);
  EXPECT_EQ(options->filters.ranks, "0,8-15");
  EXPECT_EQ(options->render.format, Format::kCsv);
  EXPECT_TRUE(options->render.is_wide);
  EXPECT_EQ(options->output, "x.csv");
}

TEST(StudyOptions, ListsTheKnownStudies) {
  EXPECT_THAT(refusal({"spraed", "run.h5"}), HasSubstr("unknown study \"spraed\"; known are summary, spread, "));
  EXPECT_THAT(refusal({}), HasSubstr("no study given; known are summary, spread, "));
}

TEST(StudyOptions, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal({"spread"}), HasSubstr("no run file given"));
  EXPECT_THAT(refusal({"spread", "run.h5", "--format", "xml"}), HasSubstr("\"xml\" is none of table, csv, tsv, json"));
  EXPECT_THAT(refusal({"spread", "run.h5", "--op", "AllSum"}),
              HasSubstr("unknown operation \"AllSum\"; known are All"));
  EXPECT_THAT(refusal({"spread", "run.h5", "--ranks", "0,x"}), HasSubstr("--ranks: not a list of ranks from \"x\" on"));
  EXPECT_THAT(refusal({"spread", "run.h5", "--bogus"}), HasSubstr("--bogus"));
  EXPECT_THAT(refusal({"spread", "a.h5", "b.h5"}), HasSubstr("b.h5"));
}

TEST(StudyOptions, RefusesWhatTheStudyDoesNotTakeAndSaysWhichDo) {
  EXPECT_THAT(refusal({"summary", "run.h5", "--ranks", "0"}), HasSubstr("summary takes no --ranks; taken by spread"));
  EXPECT_THAT(refusal({"network", "run.h5", "--op", "Send"}), HasSubstr("network takes no --op; taken by spread"));
  EXPECT_THAT(refusal({"network", "run.h5", "--steps", "3"}), HasSubstr("network takes no --steps"));
  EXPECT_THAT(refusal({"network", "--all", "run.h5"}), HasSubstr("takes no --all; taken by summary, env"));
  EXPECT_THAT(refusal({"network", "--by", "rank", "run.h5"}), HasSubstr("network takes no --by"));
}

TEST(StudyOptions, ListsAllInSummaryAndEnv) {
  EXPECT_TRUE(parse_options({"summary", "--all", "run.h5"})->filters.lists_all);
  EXPECT_TRUE(parse_options({"env", "--all", "run.h5"})->filters.lists_all);
  EXPECT_FALSE(parse_options({"env", "run.h5"})->filters.is_for_programs);
  EXPECT_TRUE(parse_options({"env", "run.h5", "--format", "csv"})->filters.is_for_programs);
}

TEST(StudyOptions, ReadsWhatAFailureIs) {
  EXPECT_EQ(parse_options({"spread", "run.h5", "--fail-on", "warning"})->fail_on, Finding::kWarning);
  EXPECT_EQ(parse_options({"spread", "run.h5"})->fail_on, std::nullopt);
  EXPECT_THAT(refusal({"spread", "run.h5", "--fail-on", "all"}), HasSubstr("\"all\" is neither warning nor critical"));
}

TEST(StudyOptions, PrintsHelpVersionAndDefinitions) {
  const auto help = parse_options({"--help"});
  ASSERT_TRUE(help);
  EXPECT_EQ(help->study, nullptr);
  for (const char* word :
       {"--format", "--op", "--ranks", "--out", "--wide", "--explain", "--version", "summary", "spread", "network"}) {
    EXPECT_THAT(help->text, HasSubstr(word));
  }
  EXPECT_EQ(parse_options({"--version"})->text, "jaxprof-study " JAXPROF_VERSION "\n");
  EXPECT_THAT(parse_options({"spread", "--explain"})->text, HasSubstr("enqueue, not transfer"));
}

}  // namespace
}  // namespace jaxprof::study
