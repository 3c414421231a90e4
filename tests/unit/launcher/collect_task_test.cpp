#include "launcher/collect/collect_task.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/file_lock.h"
#include "agent/base/process_presence.h"
#include "agent/base/text.h"
#include "agent/contract/run_layout.h"
#include "launcher/collect/account.h"
#include "launcher/collect/growth_watch.h"
#include "launcher/collect/left_task.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

constexpr pid_t kGone = 0x3ffffff0;  // above any pid
constexpr char kRun[] = "5.0.0";

template <std::size_t N>
void put(char (&target)[N], const std::string& text) {
  TextBuffer(target, N).append(text.c_str());
}

// A run directory, and the folder of a task on this node whose wrapper was killed.
class CollectTask : public testing::Test {
 protected:
  CollectTask() {
    node_ = this_node();
    std::filesystem::create_directories(state_);
    std::filesystem::create_directories(spool_);
    start_.run_id = kRun;
    start_.task = "rank3";
    start_.rank = 3;
    start_.host = node_.host;
    start_.boot_id = node_.boot_id;
    start_.pid = kGone;
    start_.is_profiled = true;
    start_.stem = "rank3";
    start_.spool_directory = spool_;
    page_ = create_session_page(run_layout::session_path(spool_).c_str());
    put(page_->plan.run.run_id, kRun);
    put(page_->plan.host, node_.host);
    put(page_->plan.boot_id, node_.boot_id);
    put(page_->plan.spool_directory, spool_);
    page_->plan.wrapper_pid = kGone;
    page_->plan.trace = kDefaultTrace;
    page_->plan.pid_namespace = own_pid_namespace();
    std::ofstream(run_layout::owner_path(spool_)) << "";
    std::ofstream(run_layout::part_spool_path(prof_, "rank3")) << "";
  }
  ~CollectTask() override { munmap(page_, sizeof(SessionPage)); }

  void write_start() {
    const std::string path = run_layout::task_start_path(state_, start_.task);
    ASSERT_TRUE(write_atomic_file(path, to_json(start_), Publish::kReplace));
  }
  ProcessSlot& process(SlotState state, const std::string& content, pid_t pid = kGone) {
    std::uint32_t index = 0;
    ProcessSlot* slot = claim_slot(page_, &index);
    slot->pid = pid;
    slot->start_ticks = pid == kGone ? 1 : process_start_ticks(pid);
    slot->rank.rank = 3;
    put(slot->stem, "rank3");
    put(slot->spool_name, "slot" + std::to_string(index) + ".jxspool");
    std::ofstream(spool_ + "/" + slot->spool_name) << content;
    slot->spool_bytes = content.size();
    slot->state = state;
    return *slot;
  }
  std::vector<LeftTask> find() {
    auto tasks = find_left_tasks(prof_, "", node_);
    EXPECT_TRUE(tasks) << tasks.error().message;
    return std::move(*tasks);
  }
  Collected collect(bool is_dry_run = false) {
    write_start();
    const auto tasks = find();
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.empty() ? Collected{} : collect_task(prof_, tasks[0], is_dry_run);
  }
  std::string content(const std::string& name) const { return read_small_file(prof_ + "/" + name).value_or("(none)"); }
  TaskEnd end_record() const {
    const auto text = read_small_file(run_layout::task_end_path(state_, "rank3"));
    return text ? *parse_task_end(*text) : TaskEnd{};
  }

  test::TempFolder folder_;
  std::string prof_ = folder_.file("prof");
  std::string state_ = run_layout::run_state_directory(prof_, kRun);
  std::string spool_ = folder_.file("spool");
  Node node_;
  TaskStart start_;
  SessionPage* page_ = nullptr;
};

TEST_F(CollectTask, DoesADeadWrappersWork) {
  process(SlotState::kEnded, "all of it");
  const Collected collected = collect();
  EXPECT_EQ(collected.state, Collected::State::kCollected);
  EXPECT_EQ(collected.spools, 1);
  EXPECT_EQ(collected.bytes, 9);
  EXPECT_EQ(content("rank3.jxspool"), "all of it");
  EXPECT_FALSE(std::filesystem::exists(spool_));
  const TaskEnd end = end_record();
  EXPECT_TRUE(end.is_collected);
  EXPECT_EQ(end.exit_code, -1);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.processes.at(0).spool, "rank3.jxspool");
}

TEST_F(CollectTask, FindsNothingASecondTime) {
  process(SlotState::kEnded, "all of it");
  collect();
  EXPECT_TRUE(find().empty());
}

TEST_F(CollectTask, LeavesALivingWrapperAlone) {
  process(SlotState::kRecording, "so far");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t wrapper = fork();
  if (wrapper == 0) {
    const auto lock = try_lock(run_layout::owner_path(spool_), Missing::kCreate);
    if (write(ready[1], "x", 1) == 1 && lock) pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  start_.pid = page_->plan.wrapper_pid = wrapper;
  EXPECT_EQ(collect().state, Collected::State::kRunning);
  start_.pid = page_->plan.wrapper_pid = kGone;
  EXPECT_EQ(collect().state, Collected::State::kBusy) << "whoever it is, it is not the wrapper";
  kill(wrapper, SIGKILL);
  waitpid(wrapper, nullptr, 0);
  EXPECT_EQ(content("rank3.jxspool.part"), "");
  EXPECT_EQ(collect().state, Collected::State::kCollected);
}

TEST_F(CollectTask, CopiesSoFarWhatALivingProcessWrote) {
  process(SlotState::kRecording, "so far", getpid());
  const Collected collected = collect();
  EXPECT_EQ(collected.state, Collected::State::kGoesOn);
  EXPECT_EQ(content("rank3.jxspool.part"), "so far");
  EXPECT_TRUE(std::filesystem::exists(spool_ + "/slot0.jxspool"));
  EXPECT_EQ(end_record().task, "") << "its end has not come";
}

TEST_F(CollectTask, AProcessThatCannotBeSeenIsAliveIfItsSpoolGrows) {
  process(SlotState::kRecording, "so far");
  ProcessSlot& growing = process(SlotState::kRecording, "so far");
  const GrowthWatch watch(*page_, 0);
  ProcessSlot& late = process(SlotState::kRecording, "so far");
  growing.spool_bytes += 1;
  EXPECT_FALSE(watch.has_grown(page_->slots[0]));
  EXPECT_TRUE(watch.has_grown(growing));
  EXPECT_TRUE(watch.has_grown(late)) << "it has come since";
}

TEST_F(CollectTask, AfterARebootEveryProcessIsDead) {
  process(SlotState::kRecording, "before", getpid());
  start_.boot_id = "another";
  put(page_->plan.boot_id, "another");
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  EXPECT_EQ(content("rank3.jxspool"), "before");
}

TEST_F(CollectTask, AnotherNodesFolderInSightIsNotItsOwn) {
  process(SlotState::kEnded, "theirs");
  start_.boot_id = "another";
  start_.host = "another";
  put(page_->plan.boot_id, "another");
  put(page_->plan.host, "another");
  write_start();
  EXPECT_TRUE(find().empty());
}

TEST_F(CollectTask, APathInARecordIsNotEnough) {
  process(SlotState::kEnded, "of another run");
  start_.run_id = "6.0.0";
  write_start();
  EXPECT_TRUE(find().empty());
  EXPECT_TRUE(std::filesystem::exists(spool_));
}

TEST_F(CollectTask, PutsWhatWasKeptIntoTheRecordThatThereIs) {
  process(SlotState::kEnded, "all of it");
  TaskEnd end;
  end.task = "rank3";
  end.exit_code = 7;
  end.processes = {{0, kGone, 3, "ended", "", spool_ + "/slot0.jxspool", "no room", 10, 0, 0, "", 1}};
  ASSERT_TRUE(write_atomic_file(run_layout::task_end_path(state_, "rank3"), to_json(end), Publish::kIfAbsent));
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  const TaskEnd now = end_record();
  EXPECT_EQ(now.exit_code, 7);
  EXPECT_FALSE(now.is_collected);
  EXPECT_EQ(now.processes.at(0).spool, "rank3.jxspool");
  EXPECT_EQ(now.processes.at(0).kept, "");
}

TEST_F(CollectTask, PublishesTheEndThatTheNodeKept) {
  process(SlotState::kEnded, "all of it");
  TaskEnd end;
  end.task = "rank3";
  end.signal = 11;
  end.processes = {{0, kGone, 3, "ended", "", spool_ + "/slot0.jxspool", "no room", 10, 0, 0, "", 1}};
  end.notes = {"a note"};
  ASSERT_TRUE(write_atomic_file(run_layout::kept_end_path(spool_), to_json(end), Publish::kIfAbsent));
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  const TaskEnd now = end_record();
  EXPECT_EQ(now.signal, 11);
  EXPECT_FALSE(now.is_collected);
  EXPECT_EQ(now.notes, std::vector<std::string>{"a note"});
  ASSERT_EQ(now.processes.size(), 1u);
  EXPECT_EQ(now.processes[0].spool, "rank3.jxspool");
  EXPECT_FALSE(std::filesystem::exists(spool_));
}

TEST_F(CollectTask, AddsWhatAKilledWrapperHadNotLookedAt) {
  TaskEnd end;
  end.task = "rank3";
  end.exit_code = 7;
  ASSERT_TRUE(write_atomic_file(run_layout::kept_end_path(spool_), to_json(end), Publish::kIfAbsent));
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  EXPECT_EQ(end_record().exit_code, 7);
  EXPECT_EQ(end_record().notes, std::vector<std::string>{"no process called NVTX, CUDA or NCCL"});
}

TEST_F(CollectTask, WhatCannotBePublishedStaysAndIsNamed) {
  process(SlotState::kEnded, "all of it");
  // No file can be made under this name.
  std::filesystem::remove(run_layout::part_spool_path(prof_, "rank3"));
  put(page_->slots[0].stem, std::string(250, 'x'));
  const Collected collected = collect();
  EXPECT_EQ(collected.state, Collected::State::kFailed);
  EXPECT_NE(collected.reason.find(spool_ + "/slot0.jxspool: cannot create "), std::string::npos) << collected.reason;
  EXPECT_TRUE(std::filesystem::exists(spool_ + "/slot0.jxspool"));
}

TEST_F(CollectTask, RingsWhoseSpoolWasRemovedAreNotThrownAway) {
  ProcessSlot& slot = process(SlotState::kRecording, "recorded");
  put(slot.ring_name, "slot0.rings");
  std::ofstream(spool_ + "/slot0.rings") << "what was in memory";
  std::filesystem::remove(spool_ + "/slot0.jxspool");
  const Collected collected = collect();
  EXPECT_EQ(collected.state, Collected::State::kFailed);
  EXPECT_NE(collected.reason.find("slot0.rings is left of process"), std::string::npos) << collected.reason;
  EXPECT_TRUE(std::filesystem::exists(spool_ + "/slot0.rings"));
}

TEST_F(CollectTask, NamesEachProcessThatNeverHadASlot) {
  process(SlotState::kEnded, "all of it");
  std::filesystem::create_directory(spool_ + "/unattached.77.24");
  std::filesystem::create_directory(spool_ + "/unattached.78.24");
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  const TaskEnd end = end_record();
  ASSERT_EQ(end.processes.size(), 3u);
  EXPECT_EQ(end.processes[1].pid, 77);
  EXPECT_EQ(end.processes[2].pid, 78);
  EXPECT_FALSE(std::filesystem::exists(spool_));
}

TEST_F(CollectTask, TasksOfOtherNodesWithoutAnEndAreFound) {
  using Ranks = std::map<std::string, std::vector<std::int64_t>>;
  write_start();
  EXPECT_EQ(ranks_without_end_elsewhere(prof_, "", node_), Ranks());
  start_.host = "elsewhere";
  write_start();
  EXPECT_EQ(ranks_without_end_elsewhere(prof_, "", node_), (Ranks{{"elsewhere", {3}}}));
  EXPECT_EQ(ranks_without_end_elsewhere(prof_, "another.run", node_), Ranks());
  TaskEnd end;
  end.task = start_.task;
  ASSERT_TRUE(write_atomic_file(run_layout::task_end_path(state_, start_.task), to_json(end), Publish::kReplace));
  EXPECT_EQ(ranks_without_end_elsewhere(prof_, "", node_), Ranks());
}

TEST_F(CollectTask, AForeignFileInTheFolderStays) {
  process(SlotState::kEnded, "all of it");
  std::ofstream(spool_ + "/notes.txt") << "a user's";
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  EXPECT_TRUE(std::filesystem::exists(spool_ + "/notes.txt"));
}

TEST_F(CollectTask, ADryRunChangesNothing) {
  process(SlotState::kEnded, "all of it");
  const Collected collected = collect(true);
  EXPECT_EQ(collected.spools, 1);
  EXPECT_EQ(collected.bytes, 9);
  EXPECT_EQ(content("rank3.jxspool"), "(none)");
  EXPECT_TRUE(std::filesystem::exists(spool_ + "/slot0.jxspool"));
}

TEST_F(CollectTask, ReplacesWhatTheTaskWasAllowedToReplace) {
  process(SlotState::kEnded, "new");
  std::ofstream(prof_ + "/rank3.jxspool") << "of an ended run";
  start_.can_replace_files = true;
  EXPECT_EQ(collect().state, Collected::State::kCollected);
  EXPECT_EQ(content("rank3.jxspool"), "new");
}

TEST(FindLeftTasks, SaysWhatIsNoRunDirectory) {
  test::TempFolder folder;
  const Node node = this_node();
  EXPECT_EQ(find_left_tasks(folder.file("none"), "", node).error().code, ErrorCode::kInputUnreadable);
  EXPECT_EQ(find_left_tasks(folder.path(), "", node).error().code, ErrorCode::kInputUnreadable);
  std::filesystem::create_directories(folder.file(".run-1.0.0"));
  EXPECT_TRUE(find_left_tasks(folder.path(), "", node)->empty());
  EXPECT_EQ(find_left_tasks(folder.path(), "2.0.0", node).error().code, ErrorCode::kUsage);
}

TEST(Account, SaysWhatBecameOfEachTask) {
  LeftTask task;
  task.start.rank = 3;
  task.start.host = "n1";
  Collected collected{Collected::State::kCollected, 2, 1'200'000, 1, ""};
  EXPECT_EQ(describe({task, collected}, false), "collected  rank 3 on n1: 2 spools, 1.2 MB, 1 saved from memory");
  EXPECT_EQ(describe({task, {}}, false), "collected  rank 3 on n1: no spools");
  const Collected running{Collected::State::kRunning, 0, 0, 0, ""};
  EXPECT_EQ(describe_sum({{task, collected}, {task, running}}, "n1", false),
            "1 task on n1: 2 spools, 1.2 MB, 1 saved from memory collected; 1 still running");
  EXPECT_EQ(describe_sum({}, "n1", false), "nothing to collect on n1");
  EXPECT_EQ(describe_elsewhere({}), "");
  EXPECT_EQ(describe_elsewhere({{"n1", {1, 0}}, {"n2", {7}}}),
            "3 tasks on other nodes have no end: n1 (ranks 0-1), n2 (rank 7); if they were killed, collect there too");
  const Collected failed{Collected::State::kFailed, 0, 0, 0, "/tmp/x/slot0: no room"};
  EXPECT_EQ(describe({task, failed}, false), "failed     rank 3 on n1: /tmp/x/slot0: no room");
}

}  // namespace
}  // namespace jaxprof::launcher
