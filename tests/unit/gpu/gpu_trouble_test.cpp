// The sampler, the probe and the fake NVML as processes: what is said, and what goes on, when something goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "agent/spool/sample_codec.h"
#include "tests/doubles/nvml/fake_nvml.h"
#include "tests/unit/gpu/watched_gpus.h"

namespace jaxprof::netsampler {
namespace {

using namespace test;
using spool::kMissingSample;
using spool::NodeNote;
using testing::HasSubstr;

auto until_rows_of(std::uint32_t board, std::size_t count) {
  return [board, count](const WatchedGpus& gpus) { return gpus.rows_of(board).size() >= count; };
}

// One note and no more, and no values any longer.
void expect_ended_with(WatchedGpus* gpus, NodeNote note, const std::string& text) {
  gpus->watch_to_end();
  ASSERT_EQ(gpus->all.notes.size(), 1) << gpus->notes();
  EXPECT_EQ(gpus->all.notes[0].note, note);
  EXPECT_THAT(gpus->notes(), HasSubstr(text));
  EXPECT_TRUE(gpus->sampler.poll().notes.empty());
}

TEST(GpuTrouble, NoProbe) {
  GpuSettings settings = WatchedGpus::quick();
  settings.probe = "/no/such/jaxprof-probe";
  WatchedGpus gpus({}, settings);
  EXPECT_FALSE(gpus.is_started);
  EXPECT_THAT(gpus.why, HasSubstr("/no/such/jaxprof-probe: No such file or directory"));
  EXPECT_FALSE(gpus.sampler.is_running());
}

TEST(GpuTrouble, AProbeThatIsNone) {
  GpuSettings settings = WatchedGpus::quick();
  settings.probe = "/bin/false";
  WatchedGpus gpus({}, settings);
  expect_ended_with(&gpus, NodeNote::kNoGpu, "ended by itself: exit status 1");
}

TEST(GpuTrouble, NoLibrary) {
  WatchedGpus gpus(Variables{{"JAXPROF_LIBNVML", "/no/such/libnvidia-ml.so.1"}});
  expect_ended_with(&gpus, NodeNote::kNoGpu,
                    "JAXPROF_LIBNVML names a library that cannot be loaded: /no/such/libnvidia-ml.so.1");
}

TEST(GpuTrouble, NoDriver) {
  WatchedGpus gpus({library(), {"INIT_RESULT", "9"}});
  expect_ended_with(&gpus, NodeNote::kNoGpu, "NVML does not start: A result of the fake NVML (9)");
}

TEST(GpuTrouble, NoGpu) {
  WatchedGpus gpus({library(), {"GPUS", "0"}});
  expect_ended_with(&gpus, NodeNote::kNoGpu, "NVML finds no GPU");
}

TEST(GpuTrouble, NoPermissionForAnyBoard) {
  WatchedGpus gpus({library(), {"DENIED", "3"}});
  expect_ended_with(&gpus, NodeNote::kNoGpu, "no permission to use any GPU of the node; there are 2");
}

TEST(GpuTrouble, NoPermissionForOneBoard) {
  WatchedGpus gpus({library(), {"DENIED", "1"}});
  gpus.watch(until_rows_of(0, 2));
  ASSERT_EQ(gpus.sampler.boards().size(), 1);
  EXPECT_EQ(gpus.sampler.boards()[0].uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(gpus.all.notes.size(), 1);
  EXPECT_THAT(gpus.notes(), HasSubstr("may not be used from here, and are not sampled: 1"));
}

TEST(GpuTrouble, AnOlderLibraryGivesWhatItHas) {
  WatchedGpus gpus({library("fake_nvml_old")});
  gpus.watch(until_rows_of(1, 2));
  const GpuRow row = gpus.rows_of(1).back();
  EXPECT_EQ(value(row, GpuColumn::kSmClock), fake_nvml::kSmClock);
  EXPECT_EQ(value(row, GpuColumn::kClockReasons), 0);  // by its older name
  EXPECT_EQ(value(row, GpuColumn::kEnergy), kMissingSample);
  EXPECT_EQ(value(row, GpuColumn::kNvlinkTx), kMissingSample);
  EXPECT_EQ(gpus.notes(), "");
}

TEST(GpuTrouble, WhatIsNotSupportedIsAskedForOnce) {
  const std::string report = std::filesystem::temp_directory_path() / ("nvml." + std::to_string(getpid()));
  std::filesystem::remove(report);
  {
    WatchedGpus gpus({library(), {"UNSUPPORTED", "nvmlDeviceGetPowerUsage"}, {"REPORT", report}});
    gpus.watch(until_rows_of(1, 4));
    EXPECT_EQ(value(gpus.all.rows.back(), GpuColumn::kPower), kMissingSample);
    EXPECT_EQ(value(gpus.all.rows.back(), GpuColumn::kPowerInstant), fake_nvml::kPower);
  }
  std::map<std::string, int> calls;
  std::ifstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature"}) {
      if (line.find(std::string("what=") + name + "\t") != std::string::npos) ++calls[name];
    }
  }
  std::filesystem::remove(report);
  EXPECT_EQ(calls["nvmlDeviceGetPowerUsage"], 2);  // once a board
  EXPECT_GE(calls["nvmlDeviceGetTemperature"], 8);
}

TEST(GpuTrouble, WhatIsForbiddenIsMissingAndSaidOnce) {
  WatchedGpus gpus({library(), {"FORBIDDEN", "nvmlDeviceGetTotalEccErrors,nvmlDeviceGetPcieReplayCounter"}});
  gpus.watch(until_rows_of(1, 3));
  EXPECT_EQ(value(gpus.all.rows.back(), GpuColumn::kEccCorrected), kMissingSample);
  EXPECT_EQ(value(gpus.all.rows.back(), GpuColumn::kSmClock), fake_nvml::kSmClock);
  EXPECT_EQ(gpus.notes(), "NVML gives some values to the superuser only; they are missing\n");
}

TEST(GpuTrouble, ShortPcieCountersAreLeftOutAndSaidOnce) {
  WatchedGpus gpus({library(), {"PCIE_BITS", "32"}});
  gpus.watch(until_rows_of(1, 3));
  for (const GpuRow& row : gpus.all.rows) EXPECT_EQ(value(row, GpuColumn::kPcieTx), kMissingSample);
  ASSERT_EQ(gpus.all.notes.size(), 1);
  EXPECT_THAT(gpus.notes(), HasSubstr("counts PCIe bytes in 32 bits"));
}

TEST(GpuTrouble, ALostBoardDoesNotStopTheOthers) {
  WatchedGpus gpus({library(), {"LOST_MASK", "1"}, {"LOST_AT_MS", "300"}});
  gpus.watch([](const WatchedGpus& seen) { return !seen.all.notes.empty(); });
  const std::size_t rows_of_lost = gpus.rows_of(0).size();
  const std::size_t wanted = gpus.rows_of(1).size() + 4;
  gpus.watch(until_rows_of(1, wanted));
  ASSERT_EQ(gpus.rows_of(0).size(), rows_of_lost);
  const GpuRow last = gpus.rows_of(0).back();
  EXPECT_EQ(last.flags, spool::kSampleLast);
  EXPECT_EQ(value(gpus.rows_of(1).back(), GpuColumn::kSmClock), fake_nvml::kSmClock);
  EXPECT_TRUE(gpus.sampler.boards()[0].is_lost);
  EXPECT_FALSE(gpus.sampler.boards()[1].is_lost);
  EXPECT_EQ(gpus.all.notes.size(), 1);
  EXPECT_TRUE(gpus.sampler.is_running());
}

TEST(GpuTrouble, TheProbeEndsWithoutAnotherWordWhenAllBoardsAreLost) {
  WatchedGpus gpus({library(), {"LOST_MASK", "3"}, {"LOST_AT_MS", "300"}});
  gpus.watch_to_end();
  ASSERT_EQ(gpus.all.notes.size(), 2) << gpus.notes();
  EXPECT_THAT(gpus.all.notes[0].text, HasSubstr("000000000000 (0000:1b:00.0) is lost"));
  EXPECT_THAT(gpus.all.notes[1].text, HasSubstr("000000000001 (0000:1c:00.0) is lost"));
}

TEST(GpuTrouble, AProbeThatDiesIsSaidWithItsSignal) {
  WatchedGpus gpus({library(), {"CRASH_AT_MS", "300"}});
  expect_ended_with(&gpus, NodeNote::kGpuTrouble, "ended by itself: signal 11");
  EXPECT_GT(gpus.all.rows.size(), 0);
}

TEST(GpuTrouble, AProbeThatHangsIsKilledAndSaid) {
  GpuSettings settings = WatchedGpus::quick();
  settings.silence_limit = std::chrono::milliseconds(1500);
  WatchedGpus gpus({library(), {"HANG_AT_MS", "300"}}, settings);
  expect_ended_with(&gpus, NodeNote::kGpuTrouble, "it said nothing for 1500 ms");
}

TEST(GpuTrouble, AProbeThatNeverBeginsIsKilledAndSaid) {
  GpuSettings settings = WatchedGpus::quick();
  settings.start_limit = std::chrono::seconds(1);
  settings.silence_limit = std::chrono::minutes(10);
  WatchedGpus gpus({library(), {"INIT_MS", "600000"}}, settings);
  expect_ended_with(&gpus, NodeNote::kNoGpu, "it said nothing for 1 s");
}

TEST(GpuTrouble, ADriverThatSetsUpSlowlyIsWaitedFor) {
  GpuSettings settings = WatchedGpus::quick();
  settings.silence_limit = std::chrono::minutes(10);
  WatchedGpus gpus({library(), {"INIT_MS", "700"}}, settings);
  gpus.watch(until_rows_of(1, 1));
  EXPECT_EQ(gpus.notes(), "");
}

TEST(GpuTrouble, ALibraryThatPrintsIsNotBelieved) {
  WatchedGpus gpus({library(), {"PRINTS", "1"}});
  expect_ended_with(&gpus, NodeNote::kNoGpu, "output is not its own");
  EXPECT_TRUE(gpus.all.rows.empty());
}

}  // namespace
}  // namespace jaxprof::netsampler
