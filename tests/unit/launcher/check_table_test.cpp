#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/check.h"

namespace jaxprof::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CompactRanks, JoinsNeighbours) {
  EXPECT_EQ(compact_ranks({}), "");
  EXPECT_EQ(compact_ranks({7, 0, 2, 1}), "0-2,7");
  EXPECT_EQ(compact_ranks({3, 3, 4}), "3-4");
}

TEST(MakeTable, PutsEqualFaultsOfRanksIntoOneLine) {
  std::vector<RankFindings> all;
  for (int rank = 0; rank < 64; ++rank) {
    RankFindings findings{rank, "n" + std::to_string(rank / 8), false, {}};
    if (rank < 8) findings.findings.push_back({true, "the disk is full"});
    if (rank == 63) findings.findings.push_back({false, "X is not set"});
    if (rank != 40) all.push_back(findings);
  }
  EXPECT_EQ(make_table(all, 64, "prof"),
            "jaxprof check: 55 of 64 ranks ready, output prof/\n"
            "kind    ranks        nodes            what\n"
            "fault   40           -                no report: they did not start in time, or cannot reach prof\n"
            "fault   0-7          n0               the disk is full\n"
            "remark  63           n7               X is not set\n");
}

TEST(MakeTable, NamesFourNodesAndCountsTheRest) {
  std::vector<RankFindings> all;
  for (int rank = 0; rank < 6; ++rank) all.push_back({rank, "n" + std::to_string(rank), false, {{true, "x"}}});
  EXPECT_THAT(make_table(all, 6, "p"), HasSubstr("n0,n1,n2,n3 and 2 more"));
}

TEST(MakeTable, IsOneLineWhenAllIsWell) {
  EXPECT_EQ(make_table({{0, "n0", false, {}}}, 1, "p"), "jaxprof check: 1 of 1 ranks ready, output p/\n");
}

TEST(RankFindings, ComeBackAsTheyWereWritten) {
  const RankFindings findings{3, "n1", true, {{true, "a\tb\nc"}, {false, ""}}};
  const auto parsed = parse_findings(to_text(findings));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->rank, 3);
  EXPECT_EQ(parsed->host, "n1");
  EXPECT_TRUE(parsed->has_made_directory);
  ASSERT_EQ(parsed->findings.size(), 2u);
  EXPECT_TRUE(parsed->findings[0].is_fault);
  EXPECT_EQ(parsed->findings[0].text, "a\tb c");
  EXPECT_FALSE(parsed->findings[1].is_fault);
}

TEST(ParseFindings, RefusesForeignText) {
  for (const char* text : {"", "x", "jaxprof-check-1", "jaxprof-check-1\tx\tn\t0\n", "jaxprof-check-2\t1\tn\t0\n"}) {
    EXPECT_FALSE(parse_findings(text)) << text;
  }
}

}  // namespace
}  // namespace jaxprof::launcher
