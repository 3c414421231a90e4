// The sampler, the probe and the fake NVML as processes: what comes through when all is well.
#include "netsampler/gpu/gpu_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/spool/sample_codec.h"
#include "netsampler/gpu/gpu_columns.h"
#include "tests/doubles/nvml/fake_nvml.h"
#include "tests/unit/gpu/watched_gpus.h"

namespace jaxprof::netsampler {
namespace {

using namespace test;
using spool::kMissingSample;

auto until_rows(std::size_t count) {
  return [count](const WatchedGpus& gpus) { return gpus.all.rows.size() >= count; };
}

TEST(GpuSampler, TellsTheBoardsAndReadsThem) {
  WatchedGpus gpus({library()});
  ASSERT_TRUE(gpus.is_started) << gpus.why;
  gpus.watch(until_rows(8));
  ASSERT_EQ(gpus.sampler.boards().size(), 2);
  const GpuBoard& board = gpus.sampler.boards()[1];
  EXPECT_EQ(board.name, fake_nvml::kName);
  EXPECT_EQ(board.uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(board.pci, "0000:1c:00.0");
  EXPECT_EQ(board.driver, fake_nvml::kDriver);
  EXPECT_EQ(board.numa, -1);
  EXPECT_EQ(board.memory_bytes, fake_nvml::kMemoryBytes);
  EXPECT_EQ(board.power_limit_mw, fake_nvml::kPowerCap);
  EXPECT_EQ(board.sm_clock_max_mhz, fake_nvml::kMaxSmClock);
  for (const std::uint32_t number : {0U, 1U}) {
    const auto rows = gpus.rows_of(number);
    ASSERT_GE(rows.size(), 3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(value(rows[i], GpuColumn::kSmClock), fake_nvml::kSmClock);
      EXPECT_EQ(value(rows[i], GpuColumn::kMemoryClock), fake_nvml::kMemoryClock);
      EXPECT_EQ(value(rows[i], GpuColumn::kPower), fake_nvml::kPower);
      EXPECT_EQ(value(rows[i], GpuColumn::kPowerInstant), fake_nvml::kPower);
      EXPECT_EQ(value(rows[i], GpuColumn::kPowerLimit), fake_nvml::kPowerCap);
      EXPECT_EQ(value(rows[i], GpuColumn::kTemperature), fake_nvml::kTemperature + number);
      EXPECT_EQ(value(rows[i], GpuColumn::kMemoryTemperature), fake_nvml::kMemoryTemperature + number);
      EXPECT_EQ(value(rows[i], GpuColumn::kUtilization), fake_nvml::kUtilization);
      EXPECT_EQ(value(rows[i], GpuColumn::kMemoryUtilization), fake_nvml::kMemoryUtilization);
      EXPECT_EQ(value(rows[i], GpuColumn::kEccCorrected), fake_nvml::kEccCorrected + number);
      EXPECT_EQ(value(rows[i], GpuColumn::kEccUncorrected), 0);
      EXPECT_EQ(value(rows[i], GpuColumn::kPcieReplays), fake_nvml::kPcieReplays);
      EXPECT_EQ(value(rows[i], GpuColumn::kClockReasons), 0);
      EXPECT_EQ(value(rows[i], GpuColumn::kHwThermalTime), kMissingSample);  // the fake has it not
      EXPECT_EQ(rows[i].flags, 0);
      EXPECT_TRUE(i == 0 || rows[i].stamp > rows[i - 1].stamp);
    }
    // Counters over both links' directions stand in the ratio that the fake plays, whatever the time between.
    EXPECT_GT(value(rows.back(), GpuColumn::kNvlinkTx), value(rows.front(), GpuColumn::kNvlinkTx));
    EXPECT_EQ(value(rows.back(), GpuColumn::kNvlinkTx) % fake_nvml::kNvlinkTxKibAMs, 0);
    EXPECT_EQ(value(rows.back(), GpuColumn::kPcieTx) % fake_nvml::kPcieBytesAMs, 0);
    EXPECT_GT(value(rows.back(), GpuColumn::kEnergy), value(rows.front(), GpuColumn::kEnergy));
  }
  EXPECT_EQ(gpus.notes(), "");
}

TEST(GpuSampler, FindsTheLibraryOnTheLoadersPath) {
  const std::string path = library().second;
  WatchedGpus gpus(Variables{{"LD_LIBRARY_PATH", path.substr(0, path.rfind('/'))}});
  gpus.watch(until_rows(1));
  EXPECT_EQ(gpus.sampler.boards().size(), 2);
}

TEST(GpuSampler, ReadsTheNumaNodeOfABoard) {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / ("sys." + std::to_string(getpid()));
  std::filesystem::create_directories(root / "bus/pci/devices/0000:1b:00.0");
  std::ofstream(root / "bus/pci/devices/0000:1b:00.0/numa_node") << "1\n";
  GpuSettings settings = WatchedGpus::quick();
  settings.sysfs_root = root.string();
  WatchedGpus gpus({library()}, settings);
  gpus.watch(until_rows(1));
  std::filesystem::remove_all(root);
  EXPECT_EQ(gpus.sampler.boards()[0].numa, 1);
  EXPECT_EQ(gpus.sampler.boards()[1].numa, -1);
}

// Each value is read for itself, so a row at an edge may show both sides of it; the time counter, which is read last,
// says which rows lie wholly inside or outside. Returns how many lie inside.
int expect_cap_seen(const std::vector<GpuRow>& rows, std::uint64_t cap_ns) {
  std::uint64_t before = 0;
  int n_inside = 0;
  for (const GpuRow& row : rows) {
    const std::uint64_t held = value(row, GpuColumn::kSwPowerCapTime);
    EXPECT_LE(held, cap_ns);
    EXPECT_GE(held, before);
    if (held == 0 || before == cap_ns) {
      EXPECT_EQ(value(row, GpuColumn::kSmClock), fake_nvml::kSmClock);
      EXPECT_EQ(value(row, GpuColumn::kClockReasons), 0);
    } else if (before > 0 && held < cap_ns) {
      EXPECT_EQ(value(row, GpuColumn::kSmClock), fake_nvml::kCappedSmClock);
      EXPECT_EQ(value(row, GpuColumn::kClockReasons), kReasonSwPowerCap);
      EXPECT_EQ(value(row, GpuColumn::kPower), fake_nvml::kPowerCap);
      ++n_inside;
    }
    before = held;
  }
  return n_inside;
}

TEST(GpuSampler, SeesThePowerCapHoldABoardBack) {
  constexpr std::uint64_t kCapNs = 600'000'000'000;  // longer than the test
  WatchedGpus gpus({library(), {"CAP_MASK", "2"}, {"CAP_AT_MS", "200"}, {"CAP_FOR_MS", "600000"}});
  gpus.watch([](const WatchedGpus& seen) {
    const auto rows = seen.rows_of(1);
    return rows.size() >= 3 && value(rows[rows.size() - 3], GpuColumn::kSwPowerCapTime) > 0;
  });
  EXPECT_GE(expect_cap_seen(gpus.rows_of(1), kCapNs), 2);
  for (const GpuRow& row : gpus.rows_of(0)) EXPECT_EQ(value(row, GpuColumn::kSmClock), fake_nvml::kSmClock);
}

TEST(GpuSampler, SeesHowLongThePowerCapHeldABoardBack) {
  constexpr std::uint64_t kCapNs = 300'000'000;
  WatchedGpus gpus({library(), {"CAP_MASK", "2"}, {"CAP_AT_MS", "100"}, {"CAP_FOR_MS", "300"}});
  gpus.watch([](const WatchedGpus& seen) {
    const auto rows = seen.rows_of(1);
    return rows.size() >= 2 && value(rows[rows.size() - 2], GpuColumn::kSwPowerCapTime) == kCapNs;
  });
  expect_cap_seen(gpus.rows_of(1), kCapNs);
  EXPECT_EQ(value(gpus.rows_of(1).back(), GpuColumn::kSwPowerCapTime), kCapNs);
}

TEST(GpuSampler, ListsTheInstancesOfAPartitionedBoard) {
  WatchedGpus gpus({library(), {"MIG", "1"}});
  gpus.watch(until_rows(4));
  const auto& boards = gpus.sampler.boards();
  ASSERT_EQ(boards.size(), 4);
  EXPECT_FALSE(boards[0].instance_of.has_value());
  EXPECT_EQ(boards[1].instance_of, 0);
  EXPECT_EQ(boards[1].uuid, "MIG-00000000-0000-0000-0001-000000000000");
  EXPECT_EQ(boards[1].pci, boards[0].pci);
  EXPECT_EQ(boards[1].driver, fake_nvml::kDriver);
  EXPECT_EQ(boards[1].memory_bytes, fake_nvml::kMemoryBytes / 2);
  EXPECT_EQ(boards[2].instance_of, 0);
  EXPECT_FALSE(boards[3].instance_of.has_value());
  EXPECT_TRUE(gpus.rows_of(1).empty());
  EXPECT_FALSE(gpus.rows_of(3).empty());
}

TEST(GpuSampler, StopsTheProbe) {
  WatchedGpus gpus({library()});
  gpus.watch(until_rows(1));
  EXPECT_TRUE(gpus.sampler.is_running());
  EXPECT_GE(gpus.sampler.descriptor(), 0);
  gpus.sampler.stop();
  EXPECT_FALSE(gpus.sampler.is_running());
  EXPECT_EQ(gpus.sampler.descriptor(), -1);
  EXPECT_TRUE(gpus.sampler.poll().rows.empty());
  EXPECT_EQ(gpus.sampler.boards().size(), 2);
}

}  // namespace
}  // namespace jaxprof::netsampler
