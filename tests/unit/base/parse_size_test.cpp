#include "agent/base/parse_size.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(ParseSize, CountsInPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0);
  EXPECT_EQ(parse_size("1000000"), 1'000'000);
  EXPECT_EQ(parse_size("2K"), 2048);
  EXPECT_EQ(parse_size("512M"), std::int64_t{512} << 20);
  EXPECT_EQ(parse_size("4G"), std::int64_t{4} << 30);
  EXPECT_EQ(parse_size("3T"), std::int64_t{3} << 40);
}

TEST(ParseSize, TakesSmallLettersAndTheWordByte) {
  for (const char* text : {"4g", "4GB", "4GiB", "4gB"}) EXPECT_EQ(parse_size(text), std::int64_t{4} << 30) << text;
}

TEST(ParseSize, RefusesWhatIsNoWholeSize) {
  for (const char* text : {"", "G", "1.5G", "-1", "+1", " 1", "1 ", "1 G", "4X", "4BG", "4Gb", "4GiBs", "0x10", "B",
                           "1B", "4\x0b", "4["}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ParseSize, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_size("9223372036854775807"), INT64_MAX);
  EXPECT_FALSE(parse_size("9223372036854775808"));
  EXPECT_EQ(parse_size("8388607T"), std::int64_t{8388607} << 40);
  EXPECT_FALSE(parse_size("8388608T"));
  EXPECT_FALSE(parse_size("99999999999999999999"));
}

}  // namespace
}  // namespace jaxprof
