#include "merge/export/csv_field.h"

#include <gtest/gtest.h>

namespace jaxprof::exporting {
namespace {

std::string text(std::string_view value) {
  std::string to;
  append_text(value, to);
  return to;
}

TEST(CsvField, QuotesOnlyWhatHasToBe) {
  EXPECT_EQ(text("plain <script> text"), "plain <script> text");
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("a,b"), "\"a,b\"");
  EXPECT_EQ(text("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(text("two\r\nlines"), "\"two\r\nlines\"");
}

TEST(CsvField, NumbersReadBackEqual) {
  std::string to;
  append_number(std::uint64_t{18'446'744'073'709'551'614U}, to);
  to += ' ';
  append_number(std::int64_t{-5}, to);
  to += ' ';
  append_number(0.1, to);
  EXPECT_EQ(to, "18446744073709551614 -5 0.1");
}

}  // namespace
}  // namespace jaxprof::exporting
