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

class SpoolCollectionTest : public testing::Test {
 protected:
  SpoolCollectionTest() {
    std::filesystem::create_directories(folder_.file("prof"));
    std::filesystem::create_directories(folder_.file("spool"));
    task_.node = {"n1", "boot", getpid(), getuid()};
    task_.plan.directory = folder_.file("prof");
    task_.plan.stem = "rank0";
    task_.name = "rank0";
    task_.spool_directory = folder_.file("spool");
    task_.start.command = {"python"};
    task_.claim_rules = {"5.0.0", "boot", false};
    task_.page = create_session_page(run_layout::session_path(task_.spool_directory).c_str());
    task_.claim = *claim_output(task_.plan.directory, "rank0", task_.claim_rules);
  }
  ~SpoolCollectionTest() override { munmap(task_.page, sizeof(SessionPage)); }

  ProcessSlot& process(SlotState state, const char* stem, const char* content, std::int32_t pid = kGone) {
    std::uint32_t index = 0;
    ProcessSlot* slot = claim_slot(task_.page, &index);
    slot->pid = pid + static_cast<std::int32_t>(index);
    slot->start_ticks = 1;
    slot->rank.rank = 0;
    std::strcpy(slot->stem, stem);
    const std::string name = "slot" + std::to_string(index) + ".jxspool";
    std::strcpy(slot->spool_name, name.c_str());
    std::ofstream(task_.spool_directory + "/" + name) << content;
    slot->state.store(state);
    return *slot;
  }
  TaskEnd collect(const spool::IsTimeUp& is_time_up = [] { return false; }) {
    return collect_spools(task_, {0, 0, 0}, is_time_up);
  }
  bool has(const char* name) const { return std::filesystem::exists(folder_.file("prof/") + name); }
  std::string content(const std::string& name) const {
    return read_small_file(folder_.file("prof/") + name).value_or("(none)");
  }

  test::TempFolder folder_;
  Task task_;
};

TEST_F(SpoolCollectionTest, TheFirstProcessGetsTheRanksName) {
  ProcessSlot& slot = process(SlotState::kEnded, "rank0", "recorded");
  slot.events = 100;
  slot.drops[static_cast<int>(Drop::kRingFull)] = 2;
  slot.drops[static_cast<int>(Drop::kAfterEnd)] = 1;
  const TaskEnd end = collect();
  ASSERT_EQ(end.processes.size(), 1u);
  EXPECT_EQ(end.processes[0].state, "ended");
  EXPECT_EQ(end.processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(end.processes[0].events, 100);
  EXPECT_EQ(end.processes[0].dropped, 3);
  EXPECT_EQ(end.processes[0].bytes, 8);
  EXPECT_EQ(content("rank0.jxspool"), "recorded");
  EXPECT_FALSE(has("rank0.jxspool.part"));
  EXPECT_FALSE(std::filesystem::exists(task_.spool_directory));
}

TEST_F(SpoolCollectionTest, FurtherProcessesOfARankGetHostAndPid) {
  process(SlotState::kEnded, "rank0", "a");
  process(SlotState::kEnded, "rank0", "b");
  process(SlotState::kEnded, "rank5", "c");
  process(SlotState::kEnded, "rank5", "d");
  const TaskEnd end = collect();
  EXPECT_EQ(end.processes[0].spool, "rank0.jxspool");
  EXPECT_EQ(end.processes[1].spool, "rank0.n1." + std::to_string(kGone + 1) + ".jxspool");
  EXPECT_EQ(end.processes[2].spool, "rank5.jxspool");
  EXPECT_EQ(end.processes[3].spool, "rank5.n1." + std::to_string(kGone + 3) + ".jxspool");
  EXPECT_EQ(content(end.processes[3].spool), "d");
}

TEST_F(SpoolCollectionTest, ANameThatIsTakenStaysAnothers) {
  std::ofstream(folder_.file("prof/rank7.jxspool")) << "theirs";
  process(SlotState::kEnded, "rank7", "mine");
  const TaskEnd end = collect();
  EXPECT_EQ(end.processes[0].spool, "rank7.n1." + std::to_string(kGone) + ".jxspool");
  EXPECT_EQ(content("rank7.jxspool"), "theirs");
  EXPECT_FALSE(has("rank0.jxspool.part")) << "the claim that nobody used is gone";
}

TEST_F(SpoolCollectionTest, AKilledProcessIsPublishedAsCut) {
  process(SlotState::kRecording, "rank0", "up to the kill");
  const TaskEnd end = collect();
  EXPECT_EQ(end.processes[0].state, "cut");
  EXPECT_EQ(content("rank0.jxspool"), "up to the kill");
}

TEST_F(SpoolCollectionTest, AProcessThatGoesOnKeepsItsSpool) {
  ProcessSlot& slot = process(SlotState::kRecording, "rank0", "so far", getpid());
  slot.start_ticks = process_start_ticks(getpid());
  const TaskEnd end = collect();
  EXPECT_EQ(end.processes[0].spool, "");
  EXPECT_EQ(end.processes[0].kept, task_.spool_directory + "/slot0.jxspool");
  EXPECT_EQ(content("rank0.jxspool.part"), "so far");
  EXPECT_TRUE(std::filesystem::exists(task_.spool_directory));
}

TEST_F(SpoolCollectionTest, WithoutTimeEverythingStaysAndIsNamed) {
  process(SlotState::kEnded, "rank0", "a");
  const TaskEnd end = collect([] { return true; });
  EXPECT_EQ(end.processes[0].kept, task_.spool_directory + "/slot0.jxspool");
  EXPECT_EQ(end.processes[0].note, "no time was left to publish it");
  EXPECT_TRUE(std::filesystem::exists(end.processes[0].kept));
}

TEST_F(SpoolCollectionTest, ProcessesWithoutARecordingAreListedWithTheReason) {
  process(SlotState::kNotSelected, "rank0", "");
  std::strcpy(process(SlotState::kFailed, "rank0", "").note, "no memory");
  process(SlotState::kRecording, "rank0", "");
  process(SlotState::kStarting, "rank0", "").spool_name[0] = '\0';
  const TaskEnd end = collect();
  EXPECT_EQ(end.processes[0].state, "not-selected");
  EXPECT_EQ(end.processes[1].note, "no memory");
  EXPECT_EQ(end.processes[2].note, "its spool is empty");
  EXPECT_EQ(end.processes[3].note, "it ended while the agent was starting");
  for (const PublishedProcess& process : end.processes) EXPECT_EQ(process.spool + process.kept, "");
  EXPECT_FALSE(std::filesystem::exists(task_.spool_directory));
}

TEST_F(SpoolCollectionTest, AJobThatCalledNothingIsSaidSo) {
  const TaskEnd end = collect();
  EXPECT_TRUE(end.processes.empty());
  ASSERT_EQ(end.notes.size(), 1u);
  EXPECT_EQ(end.notes[0], "no process called NVTX, CUDA or NCCL");
  EXPECT_FALSE(has("rank0.jxspool.part"));
}

TEST_F(SpoolCollectionTest, MoreProcessesThanSlotsAreCounted) {
  task_.page->claimed_slots = kMaxProcessSlots + 7;
  const TaskEnd end = collect();
  EXPECT_EQ(end.processes.size(), kMaxProcessSlots);
  EXPECT_EQ(end.notes.at(0).substr(0, 16), "7 more processes");
}

TEST_F(SpoolCollectionTest, ASlotCannotReachOutOfItsFolder) {
  std::strcpy(process(SlotState::kEnded, "rank0", "x").spool_name, "../secret");
  std::ofstream(folder_.file("secret")) << "secret";
  EXPECT_EQ(collect().processes[0].state, "failed");
}

}  // namespace
}  // namespace jaxprof::launcher
