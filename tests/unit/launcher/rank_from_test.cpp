#include "launcher/rank_from.h"

#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

std::string parsed(const std::string& text) {
  const auto variables = parse_rank_from(text);
  if (!variables) return "refused: " + variables.error().message;
  return std::string(variables->rank) + "|" + variables->local_rank + "|" + variables->world_size;
}

TEST(ParseRankFrom, TakesOneToThreeNames) {
  EXPECT_EQ(parsed("MY_RANK"), "MY_RANK||");
  EXPECT_EQ(parsed("MY_RANK,L0"), "MY_RANK|L0|");
  EXPECT_EQ(parsed("_r,l,s"), "_r|l|s");
  EXPECT_EQ(parsed("R,,S"), "R||S");
}

TEST(ParseRankFrom, RefusesWhatIsNoName) {
  for (const char* text : {"", ",", "R,", "R,L,", ",L", "3", "$R", "R S", "R=1", "%q{R}", "R,1L", "R,L,S,T"}) {
    EXPECT_TRUE(parsed(text).starts_with("refused: --rank-from ")) << text << " gives " << parsed(text);
  }
  EXPECT_EQ(parsed(std::string(63, 'R')), std::string(63, 'R') + "||");
  EXPECT_NE(parsed(std::string(64, 'R')).find("longer than 63 characters"), std::string::npos);
}

TEST(ParseRankFrom, SaysWhatIsWrongAndHowToWriteIt) {
  EXPECT_EQ(parsed("R,3"),
            "refused: --rank-from R,3: '3' is no name of a variable; write names of variables: "
            "RANK[,LOCAL_RANK[,WORLD_SIZE]]");
}

}  // namespace
}  // namespace jaxprof::launcher
