#include "launcher/nsys_options.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "launcher/options.h"

namespace jaxprof::launcher {
namespace {

Result<Options> parse(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = words;
  arguments.insert(arguments.end(), {"python", "train.py"});
  return parse_options(arguments, nullptr);
}

// Each option in all spellings that it has.
std::vector<std::vector<std::string>> spellings(const NsysOption& option, const std::string& value) {
  const std::string name = std::string("--") + option.long_name;
  std::vector<std::vector<std::string>> all = {{name, value}, {name + "=" + value}};
  if (option.letter != '\0') {
    const std::string letter = std::string("-") + option.letter;
    all.insert(all.end(), {{letter, value}, {letter + value}, {letter + "=" + value}});
  }
  return all;
}

TEST(NsysOptions, EachIsTakenWithOneLineOrRefusedWithItsReason) {
  for (const NsysOption& option : nsys_options()) {
    for (const auto& words : spellings(option, "some-value")) {
      const auto options = parse(words);
      if (option.answer == NsysAnswer::kAccepted) {
        ASSERT_TRUE(options) << words[0] << ": " << options.error().message;
        ASSERT_EQ(options->remarks.size(), 1u) << words[0];
        EXPECT_NE(options->remarks[0].find(option.reason), std::string::npos);
        EXPECT_EQ(options->command, (std::vector<std::string>{"python", "train.py"}));
      } else {
        ASSERT_FALSE(options) << words[0];
        EXPECT_EQ(options.error().code, ErrorCode::kUsage);
        EXPECT_NE(options.error().message.find(option.reason), std::string::npos) << options.error().message;
      }
    }
    if (option.answer != NsysAnswer::kOnlyValue) continue;
    for (const auto& words : spellings(option, option.accepted_value)) {
      EXPECT_TRUE(parse(words)) << words[0];
    }
  }
}

TEST(NsysOptions, NoneIsThereTwiceOrIsOneOfOurs) {
  std::set<std::string> names;
  for (const NsysOption& option : nsys_options()) {
    EXPECT_TRUE(names.insert(option.long_name).second) << option.long_name;
    if (option.letter != '\0') {
      EXPECT_TRUE(names.insert(std::string(1, option.letter)).second) << option.letter;
    }
    EXPECT_EQ(option.answer == NsysAnswer::kOnlyValue, option.accepted_value != nullptr) << option.long_name;
    EXPECT_FALSE(std::string(option.reason).empty());
    EXPECT_NE(std::string(option.reason).back(), '.');
  }
  for (const char* own : {"o",
                          "f",
                          "h",
                          "t",
                          "y",
                          "d",
                          "e",
                          "env-var",
                          "c",
                          "p",
                          "output",
                          "force-overwrite",
                          "help",
                          "version",
                          "quiet",
                          "ranks",
                          "trace",
                          "delay",
                          "duration",
                          "capture-range",
                          "capture-range-end",
                          "nvtx-capture"}) {
    EXPECT_FALSE(names.contains(own)) << own;
  }
}

TEST(FindNsysOption, TakesWholeNamesOnly) {
  EXPECT_NE(find_nsys_option("-snone"), nullptr);
  EXPECT_NE(find_nsys_option("--sample=none"), nullptr);
  for (const char* word : {"--sampl", "--samples", "--", "-", "-Z", "sample", ""}) {
    EXPECT_EQ(find_nsys_option(word), nullptr) << word;
  }
}

}  // namespace
}  // namespace jaxprof::launcher
