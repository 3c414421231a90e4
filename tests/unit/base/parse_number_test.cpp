#include "agent/base/parse_number.h"

#include <gtest/gtest.h>

#include <string>

namespace jaxprof {
namespace {

TEST(ParseNumber, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_int64("-12"), -12);
  EXPECT_EQ(parse_uint64("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_double("1.5e3"), 1500.0);
  for (const char* text : {"", " 7", "7 ", "12abc", "+3", "0x10"}) {
    EXPECT_FALSE(parse_int64(text)) << text;
    EXPECT_FALSE(parse_uint64(text)) << text;
  }
}

TEST(ParseNumber, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(parse_int64("9223372036854775808"));
  EXPECT_FALSE(parse_uint64("18446744073709551616"));
  EXPECT_FALSE(parse_uint64("-1"));
  for (const char* text : {"inf", "nan", "-inf", "1e999"}) EXPECT_FALSE(parse_double(text)) << text;
}

}  // namespace
}  // namespace jaxprof
