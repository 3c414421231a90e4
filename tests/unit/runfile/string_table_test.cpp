#include "merge/runfile/string_table.h"

#include <gtest/gtest.h>

#include "merge/runfile/enums.h"
#include "merge/runfile/run_tables.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::runfile {
namespace {

TEST(StringTable, GivesEqualTextsOneId) {
  StringTable strings;
  const StringId id = strings.intern("step");
  EXPECT_EQ(strings.intern(std::string("st") + "ep"), id);
  EXPECT_NE(strings.intern("step 2"), id);
  EXPECT_EQ(strings.text(id), "step");
  EXPECT_EQ(strings.size(), 3U);
}

TEST(StringTable, HasTheEmptyTextAtZero) {
  StringTable strings;
  EXPECT_EQ(strings.intern(""), StringId::kEmpty);
  EXPECT_EQ(strings.text(StringId{99}), "");
}

TEST(StringTable, KeepsItsTextsWhenItGrowsAndMoves) {
  StringTable strings;
  for (int i = 0; i < 10'000; ++i) strings.intern(std::to_string(i));
  const StringTable moved = std::move(strings);
  EXPECT_EQ(moved.text(StringId{1}), "0");
  EXPECT_EQ(moved.text(StringId{10'000}), "9999");
}

TEST(StringTable, AFilterLeavesNothingOfWhatItTakesOut) {
  StringTable table;
  table.set_filter([](std::string_view text) { return text == "secret" ? "-" : std::string(text); });
  const StringId id = table.intern("secret");
  EXPECT_EQ(table.text(id), "-");
  EXPECT_EQ(table.intern("-"), id);
  EXPECT_EQ(table.size(), 2u) << "the empty text and that one";
  EXPECT_EQ(table.text(table.intern_verbatim("secret")), "secret");
  StringTable moved = std::move(table);
  EXPECT_EQ(moved.text(moved.intern("secret")), "-");
}

TEST(ValidUtf8, KeepsValidTextAndReplacesTheRest) {
  EXPECT_EQ(valid_utf8("aä€😀"), "aä€😀");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong '/'
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(valid_utf8("x\xE2\x82"), "x\uFFFD\uFFFD");          // cut short
  EXPECT_EQ(valid_utf8("\xF5\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(FixedText, CutsWhatDoesNotFitAndStaysTerminated) {
  EXPECT_EQ(FixedText<8>("0000:3b:00.0").view(), "0000:3b");
  EXPECT_EQ(FixedText<8>(std::string("ab")).view(), "ab");
}

TEST(Word, NamesEveryValueAndTheMissingOne) {
  EXPECT_EQ(word(Algo::kCollnetChain), "collnet_chain");
  EXPECT_EQ(word(Algo::kUnknown), "unknown");
  EXPECT_EQ(word(Algo::kMissing), "missing");
  EXPECT_EQ(word(static_cast<Algo>(200)), "missing");
  EXPECT_EQ(from_word<Coll>("AllToAll"), Coll::kAllToAll);
  EXPECT_EQ(from_word<Coll>("alltoall"), std::nullopt);
}

}  // namespace
}  // namespace jaxprof::runfile
