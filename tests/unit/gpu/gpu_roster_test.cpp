#include "netsampler/gpu/gpu_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/spool/sample_codec.h"
#include "tests/unit/gpu/probe_samples.h"

namespace jaxprof::netsampler {
namespace {

using namespace test;
using spool::NodeNote;
using testing::HasSubstr;

class Roster : public testing::Test {
 protected:
  template <typename Payload>
  bool apply(const Payload& payload) {
    return roster_.apply(record_of(payload), &update_);
  }
  GpuRoster roster_{[](const std::string& pci) { return pci == "0000:1c:00.0" ? 1 : -1; }};
  GpuUpdate update_;
};

TEST_F(Roster, KeepsTheFactsOfABoard) {
  ASSERT_TRUE(apply(probe_gpu(0)));
  ASSERT_TRUE(apply(probe_gpu(1)));
  ASSERT_EQ(roster_.boards().size(), 2);
  const GpuBoard& board = roster_.boards()[1];
  EXPECT_EQ(board.number, 1);
  EXPECT_EQ(board.name, "NVIDIA H100");
  EXPECT_EQ(board.uuid, "GPU-1");
  EXPECT_EQ(board.pci, "0000:1c:00.0");
  EXPECT_EQ(board.driver, "550.54");
  EXPECT_EQ(board.numa, 1);
  EXPECT_EQ(board.memory_bytes, 80ULL << 30U);
  EXPECT_EQ(board.power_limit_mw, 700'000);
  EXPECT_EQ(board.sm_clock_max_mhz, 1980);
  EXPECT_EQ(board.stamp, 1000);
  EXPECT_FALSE(board.instance_of.has_value());
  EXPECT_EQ(update_.boards.size(), 2);
}

TEST_F(Roster, WritesPciAddressesAsTheKernelDoes) {
  ProbeGpu gpu = probe_gpu(0);
  gpu.pci_domain = 0x10000;  // of a virtual machine
  gpu.pci_bus = 0xAB;
  gpu.pci_device = 0x1F;
  ASSERT_TRUE(apply(gpu));
  EXPECT_EQ(roster_.boards()[0].pci, "10000:ab:1f.0");
}

TEST_F(Roster, HasNoPciAddressWhereNvmlTellsNone) {
  ProbeGpu gpu = probe_gpu(0);
  gpu.has_pci = 0;
  ASSERT_TRUE(apply(gpu));
  EXPECT_EQ(roster_.boards()[0].pci, "");
}

TEST_F(Roster, TakesATextWithoutAnEndAndReplacesWhatCannotBePrinted) {
  ProbeGpu gpu = probe_gpu(0);
  std::fill(std::begin(gpu.name), std::end(gpu.name), 'n');
  gpu.name[1] = '\n';
  gpu.name[2] = '\xff';
  ASSERT_TRUE(apply(gpu));
  EXPECT_EQ(roster_.boards()[0].name, "n??" + std::string(sizeof gpu.name - 3, 'n'));
}

TEST_F(Roster, RefusesBoardsOutOfOrderOrWithoutAnIdentity) {
  EXPECT_FALSE(apply(probe_gpu(1)));
  ProbeGpu nameless = probe_gpu(0);
  nameless.uuid[0] = '\0';
  EXPECT_FALSE(apply(nameless));
  EXPECT_TRUE(roster_.boards().empty());
  EXPECT_TRUE(update_.boards.empty());
}

TEST_F(Roster, TiesAnInstanceToItsBoardAndTakesNoSamplesOfIt) {
  ASSERT_TRUE(apply(probe_gpu(0)));
  ProbeGpu instance = probe_gpu(1);
  instance.parent = 0;
  ASSERT_TRUE(apply(instance));
  EXPECT_EQ(roster_.boards()[1].instance_of, 0);
  EXPECT_FALSE(apply(probe_sample(1, 10, 1980)));
  ProbeGpu nested = probe_gpu(2);
  nested.parent = 1;  // an instance has none
  EXPECT_FALSE(apply(nested));
  nested.parent = 2;  // itself
  EXPECT_FALSE(apply(nested));
}

TEST_F(Roster, PassesRowsOn) {
  ASSERT_TRUE(apply(probe_gpu(0)));
  EXPECT_FALSE(roster_.has_rows());
  ASSERT_TRUE(apply(probe_sample(0, 2000, 1755)));
  EXPECT_TRUE(roster_.has_rows());
  ASSERT_EQ(update_.rows.size(), 1);
  EXPECT_EQ(update_.rows[0].board, 0);
  EXPECT_EQ(update_.rows[0].stamp, 2000);
  EXPECT_EQ(update_.rows[0].read_us, 3);  // 2001 ns, rounded up
  EXPECT_EQ(update_.rows[0].flags, 0);
  EXPECT_EQ(update_.rows[0].values[static_cast<std::size_t>(GpuColumn::kSmClock)], 1755);
  EXPECT_EQ(update_.rows[0].values[static_cast<std::size_t>(GpuColumn::kPower)], spool::kMissingSample);
}

TEST_F(Roster, RefusesSamplesOfNobodyAndStampsThatGoBack) {
  EXPECT_FALSE(apply(probe_sample(0, 10, 1980)));
  ASSERT_TRUE(apply(probe_gpu(0)));
  ASSERT_TRUE(apply(probe_sample(0, 10, 1980)));
  EXPECT_FALSE(apply(probe_sample(0, 9, 1980)));
  EXPECT_EQ(update_.rows.size(), 1);
}

TEST_F(Roster, FlagsACounterThatWasSetToZero) {
  ASSERT_TRUE(apply(probe_gpu(0)));
  for (const std::uint64_t count : {9U, 2U}) {
    ProbeSample sample = probe_sample(0, 20 - count, 1980);
    sample.values[static_cast<std::size_t>(GpuColumn::kEccCorrected)] = count;
    ASSERT_TRUE(apply(sample));
  }
  EXPECT_EQ(update_.rows[0].flags, 0);
  EXPECT_EQ(update_.rows[1].flags, spool::kSampleReset);
}

TEST_F(Roster, SaysThatABoardIsLostOnce) {
  ASSERT_TRUE(apply(probe_gpu(0)));
  update_ = {};
  ProbeSample last = probe_sample(0, 30, kProbeMissing);
  last.flags = kProbeLost;
  ASSERT_TRUE(apply(last));
  ASSERT_EQ(update_.rows.size(), 1);
  EXPECT_EQ(update_.rows[0].flags, spool::kSampleLast);
  ASSERT_EQ(update_.boards.size(), 1);
  EXPECT_TRUE(update_.boards[0].is_lost);
  ASSERT_EQ(update_.notes.size(), 1);
  EXPECT_EQ(update_.notes[0].note, NodeNote::kGpuTrouble);
  EXPECT_THAT(update_.notes[0].text, HasSubstr("GPU-0 (0000:1b:00.0) is lost"));
  EXPECT_FALSE(apply(probe_sample(0, 40, 1980)));
}

TEST_F(Roster, PassesNotesOnAndRemembersTheReason) {
  ASSERT_TRUE(apply(probe_note(static_cast<std::uint32_t>(NodeNote::kGpuTrouble), "one")));
  EXPECT_FALSE(roster_.has_reason());
  ASSERT_TRUE(apply(probe_note(static_cast<std::uint32_t>(NodeNote::kNoGpu), "two\n")));
  EXPECT_TRUE(roster_.has_reason());
  ASSERT_EQ(update_.notes.size(), 2);
  EXPECT_EQ(update_.notes[1].text, "two?");
  EXPECT_FALSE(apply(probe_note(static_cast<std::uint32_t>(NodeNote::kNoNic), "not of GPUs")));
}

TEST_F(Roster, RefusesAKindThatItDoesNotKnow) {
  EXPECT_TRUE(roster_.apply(record_of(ProbeKind::kHello), &update_));
  EXPECT_FALSE(roster_.apply(record_of(static_cast<ProbeKind>(99)), &update_));
}

}  // namespace
}  // namespace jaxprof::netsampler
