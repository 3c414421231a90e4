// The puppet's command line: what is understood, and that nothing else is.
#include "tests/puppets/options.h"

#include <gmock/gmock.h>

namespace jaxprof::puppets {
namespace {

using testing::ElementsAre;

std::optional<Options> parse(std::vector<std::string> words, std::string* error) {
  words.insert(words.begin(), "nccl_puppet");
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  return parse_options(static_cast<int>(argv.size()), argv.data(), error);
}

TEST(ParseSize, TakesPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("1000"), 1000U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("2M"), 2U << 20U);
  EXPECT_EQ(parse_size("1G"), 1U << 30U);
}

TEST(ParseSize, RefusesWhatAnMpiCountCannotHoldAndWhatIsNoNumber) {
  for (const char* const text : {"", "K", "1k", "1KB", "-1", "2G", "99999999999999999999"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(ParseOptions, ReadsListsAndLateness) {
  std::string error;
  const auto options =
      parse({"--ops", "sendrecv,group", "--sizes", "1K,2", "--late", "3:40:2", "--api", "nvtx"}, &error);
  ASSERT_TRUE(options) << error;
  EXPECT_THAT(options->operations, ElementsAre(Operation::kSendRecv, Operation::kGroup));
  EXPECT_THAT(options->sizes_bytes, ElementsAre(1024U, 2U));
  ASSERT_TRUE(options->late);
  EXPECT_EQ(options->late->rank, 3);
  EXPECT_EQ(options->late->delay_ns, 40'000'000);
  EXPECT_EQ(options->late->every, 2);
  EXPECT_FALSE(options->uses_plugin);
  EXPECT_TRUE(options->uses_nvtx);
}

TEST(ParseOptions, ReadsASlowLinkAndWork) {
  std::string error;
  const auto options = parse({"--slow", "1:100:4", "--work", "40"}, &error);
  ASSERT_TRUE(options) << error;
  ASSERT_TRUE(options->slow);
  EXPECT_EQ(options->slow->rank, 1);
  EXPECT_EQ(options->slow->delay_ns, 100'000'000);
  EXPECT_EQ(options->slow->every, 4);
  EXPECT_EQ(options->work_ns, 40'000'000);
  EXPECT_FALSE(parse({"--slow", "1:100:0"}, &error)) << "never";
}

TEST(ParseOptions, NamesTheWordItDoesNotUnderstand) {
  for (const std::string word :
       {"--opps", "--late", "--slow", "--work", "--dtype", "--sync", "--threads", "--crash-after"}) {
    std::string error;
    EXPECT_FALSE(parse({word, "wrong"}, &error));
    EXPECT_THAT(error, testing::HasSubstr(word));
    EXPECT_FALSE(parse({word}, &error)) << "without a value";
  }
}

TEST(ParseOptions, ApiNamesInterfacesAndTheVersionThatIsTheRelease) {
  std::string error;
  const auto version = parse({"--api", "3"}, &error);
  ASSERT_TRUE(version) << error;
  EXPECT_EQ(version->api_version, 3);
  EXPECT_TRUE(version->uses_plugin && version->uses_nvtx);
  const auto both = parse({"--api", "plugin,7", "--launch", "async", "--by", "copy", "--graph", "4"}, &error);
  ASSERT_TRUE(both) << error;
  EXPECT_EQ(both->api_version, 7);
  EXPECT_FALSE(both->uses_nvtx);
  EXPECT_EQ(both->how.launch, LaunchThread::kAsync);
  EXPECT_EQ(both->how.carrier, Carrier::kCopyEngines);
  EXPECT_EQ(both->n_replays, 4);
  for (const char* const text : {"0", "8", "v5", "plugin,", ""}) {
    EXPECT_FALSE(parse({"--api", text}, &error)) << text;
  }
  EXPECT_FALSE(parse({"--api", "4", "--ops", "gather"}, &error));
  EXPECT_NE(error.find("2.28"), std::string::npos);
}

}  // namespace
}  // namespace jaxprof::puppets
