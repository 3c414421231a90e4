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
  EXPECT_EQ(options->run_file, "run.h5");
  EXPECT_EQ(options->filters.op, runfile::Coll::kAllReduce);
  EXPECT_EQ(options->filters.ranks, "0,8-15");
  EXPECT_EQ(options->render.format, Format::kCsv);
  EXPECT_TRUE(options->render.is_wide);
  EXPECT_EQ(options->output, "x.csv");
}

TEST(StudyOptions, ListsTheKnownStudies) {
  EXPECT_EQ(refusal({"spraed", "run.h5"}), "unknown study \"spraed\"; known are summary, spread, network, clock, env");
  EXPECT_THAT(refusal({}), HasSubstr("no study given; known are summary, spread, network, clock, env"));
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

TEST(StudyOptions, RefusesFiltersForAStudyOfTheWholeRun) {
  EXPECT_EQ(refusal({"summary", "run.h5", "--ranks", "0"}),
            "summary is of the whole run and takes no --ranks; spread does");
  EXPECT_EQ(refusal({"summary", "run.h5", "--op", "Send"}),
            "summary is of the whole run and takes no --op; spread does");
  EXPECT_EQ(refusal({"network", "run.h5", "--ranks", "0"}),
            "network is of the whole run and takes no --ranks; spread does");
}

TEST(StudyOptions, ListsAllFindingsInASummaryOnly) {
  EXPECT_TRUE(parse_options({"summary", "--all", "run.h5"})->filters.lists_all);
  EXPECT_THAT(refusal({"network", "--all", "run.h5"}), HasSubstr("takes no --all; summary and env do"));
  EXPECT_TRUE(parse_options({"env", "--all", "run.h5"})->filters.lists_all);
  EXPECT_FALSE(parse_options({"env", "run.h5"})->filters.is_for_programs);
  EXPECT_TRUE(parse_options({"env", "run.h5", "--format", "csv"})->filters.is_for_programs);
  EXPECT_EQ(refusal({"spread", "--all", "run.h5"}),
            "spread has nothing more to show and takes no --all; summary and env do");
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
