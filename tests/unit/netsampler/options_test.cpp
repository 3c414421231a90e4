#include "netsampler/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::netsampler {
namespace {

std::vector<std::string> run_words() {
  return {"--run-state", "/d/.run-7.0.0", "--node-folder", "/tmp/jaxprof.0.7.0.0.node", "--run", "7.0.0", "--host",
          "n1",          "--boot-id",     "0123456789"};
}

TEST(ParseOptions, TakesTheCommandLineOfARun) {
  auto words = run_words();
  for (const char* word :
       {"--job", "7", "--no-nic", "--gpu", "--nic-hz", "20", "--nic-source", "sysfs", "--cpu", "any"}) {
    words.emplace_back(word);
  }
  const auto options = parse_options(words);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->mode, Mode::kRun);
  EXPECT_EQ(options->run_state, "/d/.run-7.0.0");
  EXPECT_EQ(options->identity.job, "7");
  EXPECT_FALSE(options->has_nics);
  EXPECT_TRUE(options->has_gpus);
  EXPECT_EQ(options->nic.hz, 20U);
  EXPECT_EQ(options->nic.source, spool::NicSource::kSysfs);
  EXPECT_EQ(options->cpu, -1);
  EXPECT_TRUE(options->has_clock);
  EXPECT_EQ(options->clock_ports.low, 0);
}

TEST(ParseOptions, TakesWhatClocksAreComparedBy) {
  auto words = run_words();
  for (const char* word : {"--clock", "auto", "--clock-port=40000-40099", "--clock-interface", "ib0"}) {
    words.emplace_back(word);
  }
  const auto options = parse_options(words);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->has_clock);
  EXPECT_EQ(options->clock_ports.low, 40000);
  EXPECT_EQ(options->clock_ports.high, 40099);
  EXPECT_EQ(options->clock_interface, "ib0");
  EXPECT_FALSE(parse_options({"--probe", "--clock=off"})->has_clock);
  EXPECT_EQ(parse_options({"--probe", "--clock-meet", "x"})->clock_meet.front(), '/');
}

TEST(ParseOptions, MakesPathsAbsoluteForTheObserverLeavesItsFolder) {
  const auto options = parse_options({"--out", "x.jxspool", "--for", "1.5m"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->mode, Mode::kFile);
  EXPECT_EQ(options->output.front(), '/');
  EXPECT_EQ(options->for_ns, 90'000'000'000U);
  EXPECT_EQ(options->gpu_probe, "");
  EXPECT_FALSE(options->cpu);
}

TEST(ParseOptions, RefusesWhatMakesNoSense) {
  auto without_run = run_words();
  without_run.resize(4);
  auto two_modes = run_words();
  two_modes.emplace_back("--probe");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"--out", "x", "--for", "soon"},
                                             {"--out", "x", "--for", "0s"},
                                             {"--probe", "--for", "3s"},
                                             {"--probe", "--nic-hz", "0"},
                                             {"--probe", "--nic-hz", "1001"},
                                             {"--probe", "--nic-source", "magic"},
                                             {"--probe", "--cpu", "-2"},
                                             {"--probe", "--cpu", "x"},
                                             {"--probe", "word"},
                                             {"--probe", "--clock", "on"},
                                             {"--probe", "--clock", "off", "--clock-meet", "d"},
                                             {"--out", "x", "--clock-meet", "d"},
                                             {"--probe", "--clock-port", "5-4"},
                                             without_run,
                                             two_modes}) {
    const auto options = parse_options(words);
    ASSERT_FALSE(options) << testing::PrintToString(words);
    EXPECT_EQ(options.error().code, ErrorCode::kUsage);
  }
}

TEST(ParseOptions, AWordThatIsNoneOfAnOptionsIsNamed) {
  for (const char* word : {"maybe", "1"}) {
    const auto options = parse_options({"--probe", std::string("--clock=") + word});
    ASSERT_FALSE(options) << word;
    EXPECT_EQ(options.error().code, ErrorCode::kUsage);
    EXPECT_EQ(options.error().message,
              "--clock: " + std::string(word) + " is neither auto nor off (--help lists the options)");
  }
}

TEST(ParseOptions, HelpAndVersionAreTexts) {
  EXPECT_THAT(parse_options({"--help"})->text, testing::HasSubstr("--nic-source"));
  EXPECT_EQ(parse_options({"--version"})->text, "jaxprof " JAXPROF_VERSION "\n");
}

}  // namespace
}  // namespace jaxprof::netsampler
