#include "agent/contract/fitted_name.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace jaxprof {
namespace {

constexpr std::size_t kCapacity = 24;

std::string fitted(const std::string& text) {
  char buffer[kCapacity];
  FittedName name(buffer, sizeof buffer);
  name.append(text.c_str());
  name.finish();
  return buffer;
}

TEST(FittedName, IsTheTextItselfUpToTheLastByte) {
  EXPECT_EQ(fitted(""), "");
  EXPECT_EQ(fitted("n1@29500"), "n1@29500");
  const std::string full(kCapacity - 1, 'x');
  EXPECT_EQ(fitted(full), full);
}

TEST(FittedName, OfALongTextKeepsItsBeginningAndHasAHashOfAll) {
  const std::string cut = fitted(std::string(kCapacity, 'x'));
  EXPECT_EQ(cut.size(), kCapacity - 1);
  EXPECT_TRUE(cut.starts_with("xxxxxx-")) << cut;
  EXPECT_EQ(cut.find_first_not_of("0123456789abcdef", 7), std::string::npos) << cut;
  EXPECT_EQ(fitted(std::string(kCapacity, 'x')), cut);
}

TEST(FittedName, OfLongTextsThatDifferAnywhereDiffers) {
  const std::string text(200, 'x');
  std::set<std::string> names = {fitted(text), fitted(text + "x"), fitted(text.substr(1))};
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'y';
    names.insert(fitted(other));
  }
  EXPECT_EQ(names.size(), text.size() + 3);
}

TEST(FittedName, TellsLongTextsApartByWhatNoFileNameHolds) {
  EXPECT_EQ(fitted("a/b"), "a_b");
  const std::string text(200, 'x');
  EXPECT_NE(fitted(text + "/"), fitted(text + " "));
}

TEST(FittedName, IsMadeOfPieces) {
  char buffer[kCapacity];
  FittedName name(buffer, sizeof buffer);
  EXPECT_TRUE(name.is_empty());
  name.append("node7", 4);
  name.append('-');
  name.append_number(18446744073709551615u);
  EXPECT_FALSE(name.is_empty());
  name.finish();
  EXPECT_EQ(std::string(buffer), fitted("node-18446744073709551615"));
}

}  // namespace
}  // namespace jaxprof
