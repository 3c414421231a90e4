#include "launcher/option_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitOptionWords, SplitsAsAShellSplitsPlainWords) {
  EXPECT_THAT(*split_option_words(""), IsEmpty());
  EXPECT_THAT(*split_option_words("  \t\n"), IsEmpty());
  EXPECT_THAT(*split_option_words("--ranks 0,1  -o x"), ElementsAre("--ranks", "0,1", "-o", "x"));
  EXPECT_THAT(*split_option_words("-o 'my dir/%r'"), ElementsAre("-o", "my dir/%r"));
  EXPECT_THAT(*split_option_words("-o \"a \\\"b\\\" \\c\""), ElementsAre("-o", "a \"b\" \\c"));
  EXPECT_THAT(*split_option_words("a\\ b ''  c'd'\"e\""), ElementsAre("a b", "", "cde"));
}

TEST(SplitOptionWords, ExpandsNothing) {
  EXPECT_THAT(*split_option_words("$HOME `ls` $(ls) * ~ ;"), ElementsAre("$HOME", "`ls`", "$(ls)", "*", "~", ";"));
}

TEST(SplitOptionWords, RefusesWhatIsNotClosed) {
  EXPECT_EQ(split_option_words("a 'b").error().message, "the quote at offset 2 is not closed");
  EXPECT_EQ(split_option_words("\"b\\\"").error().code, ErrorCode::kUsage);
  EXPECT_FALSE(split_option_words("a\\"));
}

TEST(QuoteWords, IsReadBackAsTheSameWords) {
  const std::vector<std::string> words = {"plain", "two words", "it's", "", "\"", "\\", "$x", "-o=a/b,c:d"};
  EXPECT_EQ(*split_option_words(quote_words(words)), words);
  EXPECT_EQ(quote_words({"--ranks", "0,8-15"}), "--ranks 0,8-15");
}

}  // namespace
}  // namespace jaxprof::launcher
