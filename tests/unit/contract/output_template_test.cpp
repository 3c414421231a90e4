#include "agent/contract/output_template.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

struct Expanded {
  std::string text;
  TemplateReport report;
};

Expanded expand(const std::string& text, bool is_stem = true, bool is_rank_known = true) {
  const test::Environment environment{"JOB=81", "EMPTY=", "SLASHED=a/b c", "SLURM_JOB_ID=77"};
  RunIdentity run{"77", "3", 0, "77.3.0"};
  TemplateValues values;
  values.run = &run;
  values.host = "n17";
  values.pid = 4242;
  if (is_rank_known) {
    values.rank.rank = 136;
    values.rank.local_rank = 0;
    values.rank.node_index = 17;
  }
  char buffer[kPathBytes];
  TextBuffer out(buffer, sizeof buffer);
  Expanded result;
  result.report = expand_template(text.c_str(), text.size(), is_stem, values, environment.env(), &out);
  result.text = out.c_str();
  return result;
}

TEST(ExpandTemplate, KnowsEveryMacro) {
  EXPECT_EQ(expand("%h").text, "n17");
  EXPECT_EQ(expand("%p").text, "4242");
  EXPECT_EQ(expand("%r").text, "136");
  EXPECT_EQ(expand("%l").text, "0");
  EXPECT_EQ(expand("%n").text, "17");
  EXPECT_EQ(expand("%J.%S").text, "77.3");
  EXPECT_EQ(expand("%%").text, "%");
  EXPECT_EQ(expand("%q{JOB}").text, "81");
  EXPECT_EQ(expand("a%q{JOB}b%rc%%q{JOB}").text, "a81b136c%q{JOB}");
}

TEST(ExpandTemplate, UsesADefaultForWhatIsUnsetOrEmpty) {
  EXPECT_EQ(expand("%q{NO:-x}").text, "x");
  EXPECT_EQ(expand("%q{EMPTY:-x}").text, "x");
  EXPECT_EQ(expand("%q{JOB:-x}").text, "81");
  EXPECT_EQ(expand("%q{NO:-}").text, "");
  EXPECT_STREQ(expand("%q{NO:-x}").report.unset_variable, "");
}

TEST(ExpandTemplate, AnUnsetVariableKeepsANameAndIsReported) {
  const Expanded expanded = expand("r%q{NO}.%q{NOT_EITHER}");
  EXPECT_EQ(expanded.text, "runset-NO.unset-NOT_EITHER");
  EXPECT_STREQ(expanded.report.unset_variable, "NO");
  EXPECT_EQ(expanded.report.fault, TemplateFault::kNone);
}

TEST(ExpandTemplate, AnEmptyVariableNamesNothingEither) {
  const Expanded expanded = expand("y/%q{EMPTY}");
  EXPECT_EQ(expanded.text, "y/unset-EMPTY");
  EXPECT_STREQ(expanded.report.unset_variable, "EMPTY");
}

TEST(ExpandStem, IsAlwaysANameThatAFileCanHave) {
  const test::Environment environment{"DOT=.", "NAME=a"};
  const RunIdentity run{"77", "3", 0, "77.3.0"};
  TemplateValues values;
  values.run = &run;
  values.host = "n17";
  values.pid = 4242;
  const auto expand = [&](const char* text, bool* is_no_name) {
    char stem[kStemBytes];
    *is_no_name = expand_stem(text, values, environment.env(), stem).is_no_name;
    return std::string(stem);
  };
  bool is_no_name = false;
  EXPECT_EQ(expand("%q{DOT}%q{DOT}%q{DOT}", &is_no_name), "...");
  EXPECT_EQ(expand("%q{NAME}", &is_no_name), "a");
  EXPECT_FALSE(is_no_name);
  for (const char* text : {"%q{NO:-}", "%q{DOT}", "%q{DOT}%q{DOT}"}) {
    values.rank.rank = 136;
    EXPECT_EQ(expand(text, &is_no_name), "rank136") << text;
    EXPECT_TRUE(is_no_name);
    values.rank.rank = -1;
    EXPECT_EQ(expand(text, &is_no_name), "n17.4242") << text;
  }
}

TEST(ExpandTemplate, NothingOfAStemMakesADirectory) {
  EXPECT_EQ(expand("%q{SLASHED}").text, "a_b_c");
  EXPECT_EQ(expand("%q{NO:-a/b}").text, "a_b");
  EXPECT_EQ(expand("%q{SLASHED}", false).text, "a/b c");
  EXPECT_EQ(expand("%q{NO/SUCH}").text, "unset-NO_SUCH");
}

TEST(ExpandTemplate, AnUnknownRankIsNeverZero) {
  EXPECT_EQ(expand("rank%r", true, false).text, "rankn17.4242");
  EXPECT_EQ(expand("%l.%n", true, false).text, "unknown.unknown");
}

TEST(ExpandTemplate, SaysThatTheNameIsTooLong) {
  EXPECT_EQ(expand(std::string(kPathBytes, 'x')).report.fault, TemplateFault::kTooLong);
}

TEST(CheckTemplate, FindsFaultsAndTheirPlace) {
  struct Case {
    const char* text;
    TemplateFault fault;
    std::size_t offset;
  };
  const Case cases[] = {
      {"a/%x", TemplateFault::kUnknownMacro, 2},
      {"a/b%", TemplateFault::kUnknownMacro, 3},
      {"a/%q", TemplateFault::kUnknownMacro, 2},
      {"a/%q[X]", TemplateFault::kUnknownMacro, 2},
      {"ab/%q{X", TemplateFault::kUnterminatedMacro, 3},
      {"a%r/x", TemplateFault::kPerRankDirectory, 1},
      {"%l/x", TemplateFault::kPerRankDirectory, 0},
      {"%n/x", TemplateFault::kPerRankDirectory, 0},
      {"%h/x", TemplateFault::kPerRankDirectory, 0},
      {"%p/x", TemplateFault::kPerRankDirectory, 0},
      {"%q{SLURM_PROCID}/x", TemplateFault::kPerRankDirectory, 0},
      {"a.%q{HOSTNAME}/x", TemplateFault::kPerRankDirectory, 2},
      {"%q{SLURM_LOCALID:-0}/x", TemplateFault::kPerRankDirectory, 0},
      {"dir/", TemplateFault::kEmptyStem, 4},
      {"", TemplateFault::kEmptyStem, 0},
  };
  for (const Case& c : cases) {
    const TemplateReport report = check_template(c.text);
    EXPECT_EQ(report.fault, c.fault) << c.text;
    EXPECT_EQ(report.fault_offset, c.offset) << c.text;
  }
  EXPECT_EQ(check_template(std::string(kPathBytes, 'x').c_str()).fault, TemplateFault::kTooLong);
}

TEST(CheckTemplate, RefusesADirectoryOfNamedVariables) {
  RankVariables named;
  TextBuffer(named.rank, sizeof named.rank).append("MY_RANK");
  TextBuffer(named.local_rank, sizeof named.local_rank).append("MY_LOCAL");
  TextBuffer(named.world_size, sizeof named.world_size).append("MY_SIZE");
  EXPECT_EQ(check_template("a.%q{MY_RANK}/x", named).fault, TemplateFault::kPerRankDirectory);
  EXPECT_EQ(check_template("a.%q{MY_LOCAL}/x", named).fault, TemplateFault::kPerRankDirectory);
  EXPECT_EQ(check_template("a.%q{MY_SIZE}/x.%q{MY_RANK}", named).fault, TemplateFault::kNone);
  EXPECT_EQ(check_template("a.%q{MY_RANK}/x").fault, TemplateFault::kNone);
}

TEST(CheckTemplate, TakesWhatIsTheSameOnAllRanks) {
  for (const char* text : {"rank%r", "jaxprof.%J.%S/rank%r", "%q{SLURM_JOB_ID}.%q{SLURM_STEP_ID}/%q{SLURM_PROCID}",
                           "/abs/%%r/%h.%p", "%q{A:-x/y}", "a//b", "%q{SLURM_JOB_ID:-%r}/x"}) {
    EXPECT_EQ(check_template(text).fault, TemplateFault::kNone) << text;
  }
}

TEST(StemOffset, IsBehindTheLastSlashOutsideOfMacros) {
  EXPECT_EQ(stem_offset("rank"), 0u);
  EXPECT_EQ(stem_offset("a/b/rank"), 4u);
  EXPECT_EQ(stem_offset("a/%q{X:-b/c}"), 2u);
  EXPECT_EQ(stem_offset("a/"), 2u);
}

}  // namespace
}  // namespace jaxprof
