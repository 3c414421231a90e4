#include "agent/base/text.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(TextBuffer, AppendsAndStaysTerminated) {
  char buffer[16];
  TextBuffer text(buffer, sizeof buffer);
  text.append("rank");
  text.append('.');
  text.append_number(1203);
  EXPECT_STREQ(buffer, "rank.1203");
  EXPECT_EQ(text.size(), 9u);
  EXPECT_FALSE(text.is_truncated());
}

TEST(TextBuffer, CutsWhatDoesNotFitAndRemembersIt) {
  char buffer[5];
  TextBuffer text(buffer, sizeof buffer);
  text.append("ab");
  EXPECT_FALSE(text.is_truncated());
  text.append("cde");
  EXPECT_TRUE(text.is_truncated());
  text.append('f');
  EXPECT_STREQ(buffer, "abcd");
  EXPECT_EQ(text.size(), 4u);
  TextBuffer none(buffer, 0);
  none.append('g');
  EXPECT_TRUE(none.is_truncated());
  EXPECT_STREQ(buffer, "abcd");
}

TEST(TextBuffer, WritesTheSmallestAndTheLargestNumber) {
  char buffer[64];
  TextBuffer text(buffer, sizeof buffer);
  text.append_number(0);
  text.append('/');
  text.append_number(UINT64_MAX);
  EXPECT_STREQ(buffer, "0/18446744073709551615");
}

TEST(ParseDecimal, TakesDigitsOnly) {
  std::uint64_t value = 5;
  EXPECT_TRUE(parse_decimal("18446744073709551615", &value));
  EXPECT_EQ(value, UINT64_MAX);
  for (const char* text : {"", "-1", "+1", "1 ", "0x1", "18446744073709551616", "99999999999999999999"}) {
    value = 5;
    EXPECT_FALSE(parse_decimal(text, &value)) << text;
    EXPECT_EQ(value, 5u) << text;
  }
  EXPECT_TRUE(parse_decimal("12x", 2, &value));
  EXPECT_EQ(value, 12u);
}

}  // namespace
}  // namespace jaxprof
