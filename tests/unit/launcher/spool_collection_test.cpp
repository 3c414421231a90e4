#include "launcher/spool_collection.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

constexpr pid_t kGone = 0x3ffffff0;  // above any pid

// What a pass or the last pass may do.
const Pace kFree{[] { return true; }, [] { return true; }, [](std::uint64_t) {}};
bool never() {
  return false;
}

class SpoolCollectionTest : public testing::Test {
 protected:
  SpoolCollectionTest() {
    std::filesystem::create_directories(folder_.file("prof"));
    std::filesystem::create_directories(folder_.file("spool"));
    source_.host = "n1";
    source_.run_directory = folder_.file("prof");
    source_.spool_directory = folder_.file("spool");
    source_.claim_rules = {"5.0.0", "boot", false};
    source_.page = create_session_page(run_layout::session_path(source_.spool_directory).c_str());
    source_.page->plan.trace = kDefaultTrace;
    source_.claim = *claim_output(source_.run_directory, "rank0", source_.claim_rules);
    source_.is_present = [this](const ProcessSlot& slot) { return slot.pid == living_pid_; };
  }
  ~SpoolCollectionTest() override { munmap(source_.page, sizeof(SessionPage)); }

  ProcessSlot& process(SlotState state, const char* stem, const char* content, std::int32_t pid = kGone) {
    std::uint32_t index = 0;
    ProcessSlot* slot = claim_slot(source_.page, &index);
    slot->pid = pid + static_cast<std::int32_t>(index);
    slot->start_ticks = 1;
    slot->rank.rank = 0;
    std::strcpy(slot->stem, stem);
    const std::string name = "slot" + std::to_string(index) + ".jxspool";
    std::strcpy(slot->spool_name, name.c_str());
    record(*slot, content);
    slot->state.store(state);
    return *slot;
  }
  // What the process has recorded so far.
  void record(ProcessSlot& slot, const char* content) {
    std::ofstream(source_.spool_directory + "/" + slot.spool_name, std::ios::app) << content;
    slot.spool_bytes += std::strlen(content);
  }
  std::vector<PublishedProcess> collect(const spool::IsTimeUp& is_time_up = never) {
    return SpoolCollection(source_).finish(is_time_up);
  }
  bool has(const char* name) const { return std::filesystem::exists(folder_.file("prof/") + name); }
  std::string content(const std::string& name) const {
    return read_small_file(folder_.file("prof/") + name).value_or("(none)");
  }

  test::TempFolder folder_;
  SpoolSource source_;
  pid_t living_pid_ = -1;
};

TEST_F(SpoolCollectionTest, TheFirstProcessGetsTheRanksName) {
  ProcessSlot& slot = process(SlotState::kEnded, "rank0", "recorded");
  slot.events = 100;
  slot.drops[static_cast<int>(Drop::kRingFull)] = 2;
  slot.drops[static_cast<int>(Drop::kAfterEnd)] = 1;
  slot.drops[static_cast<int>(Drop::kGpuNameLost)] = 5;  // of kernels that are there
  const auto processes = collect();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].state, "ended");
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(processes[0].events, 100);
  EXPECT_EQ(processes[0].dropped, 3);
  EXPECT_EQ(processes[0].bytes, 8);
  EXPECT_EQ(content("rank0.jxspool"), "recorded");
  EXPECT_FALSE(has("rank0.jxspool.part"));
}

TEST_F(SpoolCollectionTest, FurtherProcessesOfARankGetHostAndPid) {
  process(SlotState::kEnded, "rank0", "a");
  process(SlotState::kEnded, "rank0", "b");
  process(SlotState::kEnded, "rank5", "c");
  process(SlotState::kEnded, "rank5", "d");
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(processes[1].spool, "rank0.n1." + std::to_string(kGone + 1) + ".jxspool");
  EXPECT_EQ(processes[2].spool, "rank5.jxspool");
  EXPECT_EQ(processes[3].spool, "rank5.n1." + std::to_string(kGone + 3) + ".jxspool");
  EXPECT_EQ(content(processes[3].spool), "d");
}

TEST_F(SpoolCollectionTest, ANameThatIsTakenStaysAnothers) {
  std::ofstream(folder_.file("prof/rank7.jxspool")) << "theirs";
  process(SlotState::kEnded, "rank7", "mine");
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "rank7.n1." + std::to_string(kGone) + ".jxspool");
  EXPECT_EQ(content("rank7.jxspool"), "theirs");
  EXPECT_FALSE(has("rank0.jxspool.part")) << "the claim that nobody used is gone";
}

TEST_F(SpoolCollectionTest, ANameThatIsNoneDoesNotKeepASpoolOnTheNode) {
  for (const char* stem : {"", ".", "..", "a/b"}) process(SlotState::kEnded, stem, "recorded");
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(processes[3].spool, "rank0.n1." + std::to_string(kGone + 3) + ".jxspool");
  for (const PublishedProcess& process : processes) EXPECT_EQ(process.kept, "") << process.spool;
}

TEST_F(SpoolCollectionTest, AKilledProcessIsPublishedAsCut) {
  process(SlotState::kRecording, "rank0", "up to the kill");
  const auto processes = collect();
  EXPECT_EQ(processes[0].state, "cut");
  EXPECT_EQ(content("rank0.jxspool"), "up to the kill");
}

TEST_F(SpoolCollectionTest, AProcessThatGoesOnKeepsItsSpool) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "so far");
  living_pid_ = slot.pid;
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "");
  EXPECT_EQ(processes[0].kept, source_.spool_directory + "/slot0.jxspool");
  EXPECT_EQ(content("rank0.jxspool.part"), "so far");
  EXPECT_TRUE(std::filesystem::exists(processes[0].kept));
}

TEST_F(SpoolCollectionTest, APassCopiesWhatIsWhole) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "first block,");
  living_pid_ = slot.pid;
  SpoolCollection spools(source_);
  spools.pass(kFree);
  EXPECT_EQ(content("rank0.jxspool.part"), "first block,");
  record(slot, "second block,");
  std::ofstream(source_.spool_directory + "/slot0.jxspool", std::ios::app) << "half a bl";
  spools.pass(kFree);
  EXPECT_EQ(content("rank0.jxspool.part"), "first block,second block,");
  EXPECT_STREQ(slot.published_stem, "rank0");
}

TEST_F(SpoolCollectionTest, AProcessThatHasEndedIsDoneWhileTheJobGoesOn) {
  ProcessSlot& slot = process(SlotState::kEnded, "rank0", "all of it");
  SpoolCollection spools(source_);
  spools.pass(kFree);
  EXPECT_EQ(content("rank0.jxspool"), "all of it");
  EXPECT_FALSE(std::filesystem::exists(source_.spool_directory + "/" + slot.spool_name));
  spools.pass(kFree);
  const auto processes = spools.finish(never);
  EXPECT_EQ(processes[0].state, "ended");
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(processes[0].bytes, 9);
}

TEST_F(SpoolCollectionTest, APassThatMayNotCopyOnlyClaims) {
  process(SlotState::kRecording, "rank5", "recorded");
  SpoolCollection spools(source_);
  spools.pass({[] { return true; }, [] { return false; }, [](std::uint64_t) {}});
  EXPECT_EQ(content("rank5.jxspool.part"), "");
}

TEST_F(SpoolCollectionTest, EachPieceIsToldAfterItsTurn) {
  process(SlotState::kEnded, "rank0", "a recording");
  std::uint64_t turns = 0, copied = 0;
  SpoolCollection(source_).pass(
      {[] { return true; }, [&turns] { return ++turns, true; }, [&copied](std::uint64_t bytes) { copied += bytes; }});
  EXPECT_EQ(copied, 11u);
  EXPECT_EQ(turns, 2u) << "the second finds nothing more";
}

TEST_F(SpoolCollectionTest, WhoComesAfterAKillGoesOnWithTheSameFile) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "a recording of more than one header's length,");
  living_pid_ = slot.pid;
  SpoolCollection(source_).pass(kFree);
  record(slot, " and on");
  slot.state = SlotState::kEnded;
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(content("rank0.jxspool"), "a recording of more than one header's length, and on");
  EXPECT_FALSE(has("rank0.jxspool.part"));
}

TEST_F(SpoolCollectionTest, WhatIsPublishedAlreadyIsFoundAndNotDoneAgain) {
  process(SlotState::kEnded, "rank0", "all of it");
  SpoolCollection(source_).pass(kFree);
  const auto processes = collect();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].state, "ended");
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(processes[0].bytes, 9);
  EXPECT_EQ(content("rank0.jxspool"), "all of it");
}

TEST_F(SpoolCollectionTest, AKillBetweenTheNameAndTheRemovalIsNoHarm) {
  ProcessSlot& slot = process(SlotState::kEnded, "rank0", "all of it");
  SpoolCollection(source_).pass(kFree);
  std::ofstream(source_.spool_directory + "/" + slot.spool_name) << "all of it";
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(processes[0].kept, "");
}

TEST_F(SpoolCollectionTest, ACopyThatBecameAnothersIsNotTouched) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "a recording of more than one header's length,");
  living_pid_ = slot.pid;
  SpoolCollection(source_).pass(kFree);
  std::ofstream(folder_.file("prof/rank0.jxspool.part")) << "a later run's";
  slot.state = SlotState::kEnded;
  const auto processes = collect();
  EXPECT_EQ(processes[0].spool, "rank0.n1." + std::to_string(kGone) + ".jxspool");
  EXPECT_EQ(content("rank0.jxspool.part"), "a later run's");
}

TEST_F(SpoolCollectionTest, ADirectoryThatComesBackGetsAllOfIt) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "before,");
  living_pid_ = slot.pid;
  SpoolCollection spools(source_);
  std::filesystem::rename(folder_.file("prof"), folder_.file("away"));
  spools.pass(kFree);
  std::filesystem::create_directories(folder_.file("prof"));
  record(slot, " after");
  slot.state = SlotState::kEnded;
  spools.pass(kFree);
  EXPECT_EQ(spools.finish(never)[0].spool, "rank0.jxspool");
  EXPECT_EQ(content("rank0.jxspool"), "before, after");
}

TEST_F(SpoolCollectionTest, WithoutTimeEverythingStaysAndIsNamed) {
  process(SlotState::kEnded, "rank0", "a");
  const auto processes = collect([] { return true; });
  EXPECT_EQ(processes[0].kept, source_.spool_directory + "/slot0.jxspool");
  EXPECT_EQ(processes[0].note, "no time was left to publish it");
  EXPECT_TRUE(std::filesystem::exists(processes[0].kept));
}

TEST_F(SpoolCollectionTest, ASpoolThatVanishesWhileItIsCopiedIsReadToItsEnd) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "before,");
  living_pid_ = slot.pid;
  SpoolCollection spools(source_);
  spools.pass(kFree);
  record(slot, " after");
  std::filesystem::remove(source_.spool_directory + "/" + slot.spool_name);
  slot.state = SlotState::kEnded;
  const auto processes = spools.finish(never);
  EXPECT_EQ(processes[0].state, "ended");
  EXPECT_EQ(content("rank0.jxspool"), "before, after");
}

TEST_F(SpoolCollectionTest, OfASpoolThatVanishedTheCopyIsNamed) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "before,");
  living_pid_ = slot.pid;
  SpoolCollection(source_).pass(kFree);
  living_pid_ = -1;
  std::filesystem::remove(source_.spool_directory + "/" + slot.spool_name);
  const auto processes = collect();
  EXPECT_EQ(processes[0].state, "cut");
  EXPECT_EQ(processes[0].spool, "rank0.jxspool.part");
  EXPECT_EQ(processes[0].bytes, 7);
  EXPECT_EQ(processes[0].kept, "");
  EXPECT_EQ(processes[0].note, "its spool vanished from the node");
}

TEST_F(SpoolCollectionTest, ProcessesWithoutARecordingAreListedWithTheReason) {
  process(SlotState::kNotSelected, "rank0", "");
  std::strcpy(process(SlotState::kFailed, "rank0", "").note, "no memory");
  process(SlotState::kRecording, "rank0", "");
  process(SlotState::kStarting, "rank0", "").spool_name[0] = '\0';
  const auto processes = collect();
  EXPECT_EQ(processes[0].state, "not-selected");
  EXPECT_EQ(processes[1].note, "no memory");
  EXPECT_EQ(processes[2].note, "its spool is empty");
  EXPECT_EQ(processes[3].note, "it ended while the agent was starting");
  for (const PublishedProcess& process : processes) EXPECT_EQ(process.spool + process.kept, "");
}

TEST_F(SpoolCollectionTest, TellsWhoseGpusWereNotRecorded) {
  process(SlotState::kEnded, "rank0", "x").gpu_mode = GpuMode::kAlone;
  ProcessSlot& refused = process(SlotState::kEnded, "rank0", "x");
  std::strcpy(refused.gpu_note, "CUPTI is another's");
  refused.gpu_mode = GpuMode::kUnavailable;
  const auto processes = collect();
  EXPECT_EQ(processes[0].gpu_fault, "");
  EXPECT_EQ(processes[1].gpu_fault, "CUPTI is another's");
}

TEST_F(SpoolCollectionTest, AJobThatCalledNothingIsSaidSo) {
  SpoolCollection spools(source_);
  EXPECT_TRUE(spools.finish(never).empty());
  EXPECT_EQ(spools.notes(), std::vector<std::string>{"no process called NVTX, CUDA or NCCL"});
  source_.page->plan.trace = kTraceGpu;
  EXPECT_EQ(spools.notes(),
            std::vector<std::string>{"nothing was asked for that is recorded in a process (--trace gpu)"});
  EXPECT_FALSE(has("rank0.jxspool.part"));
}

TEST_F(SpoolCollectionTest, ProcessesOfAnotherRunAreCounted) {
  source_.page->stranger_processes = 2;
  SpoolCollection spools(source_);
  EXPECT_TRUE(spools.finish(never).empty());
  EXPECT_EQ(spools.notes(), std::vector<std::string>{"2 processes of another job step or node had this task's "
                                                     "environment: not recorded"});
}

TEST_F(SpoolCollectionTest, MoreProcessesThanSlotsAreALoss) {
  source_.page->claimed_slots = kMaxProcessSlots + 7;
  const auto processes = collect();
  ASSERT_EQ(processes.size(), kMaxProcessSlots + 1);
  EXPECT_EQ(processes.back().state, "failed");
  EXPECT_EQ(processes.back().note, "7 more processes than one task can record (1024)");
}

TEST_F(SpoolCollectionTest, AProcessThatCouldNotOpenItsPageIsNamed) {
  std::filesystem::create_directory(folder_.file("spool/unattached.77.24"));
  std::filesystem::create_directory(folder_.file("spool/unattached.78.0"));
  SpoolCollection spools(source_);
  const auto processes = spools.finish(never);
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].pid, 77);
  EXPECT_EQ(processes[0].note, "it could not open its session page: Too many open files");
  EXPECT_EQ(processes[1].note, "it could not open its session page");
  EXPECT_TRUE(spools.notes().empty());
}

TEST_F(SpoolCollectionTest, ASlotCannotReachOutOfItsFolder) {
  std::strcpy(process(SlotState::kEnded, "rank0", "x").spool_name, "../secret");
  std::ofstream(folder_.file("secret")) << "secret";
  EXPECT_EQ(collect()[0].state, "failed");
}

}  // namespace
}  // namespace jaxprof::launcher
