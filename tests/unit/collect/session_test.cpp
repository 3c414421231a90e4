// Sessions, rings and the drain thread, through the spool that a real process leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "tests/unit/collect/child_run.h"

namespace jaxprof::collect {
namespace {

using spool::EventKind;
using spool::IdentityKey;
using test::ChildRun;
using test::ThreadEvent;

constexpr const char* kProgram = JAXPROF_CHILD;

TEST(Session, SaysWhoseTheSpoolIsAndWhatIsInIt) {
  ChildRun child;
  std::snprintf(child.plan().task, sizeof child.plan().task, "rank3.testhost.7");
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 1);
  EXPECT_EQ(child.slot().state.load(), SlotState::kEnded);
  EXPECT_EQ(child.slot().events.load(), 1u);
  EXPECT_EQ(child.slot().hooks.load(), kHookNvtx);
  EXPECT_STREQ(child.slot().stem, "rank3");
  EXPECT_EQ(child.slot().spool_bytes.load(), std::filesystem::file_size(child.spool_path()));

  const rundir::SpoolTrace trace = child.trace();
  EXPECT_EQ(trace.identity().text(IdentityKey::kRunId), "7.0.0");
  EXPECT_EQ(trace.identity().number(IdentityKey::kRank), 3);
  EXPECT_EQ(trace.identity().number(IdentityKey::kWorldSize), 8);
  EXPECT_EQ(trace.identity().text(IdentityKey::kRankVariable), "JAXPROF_RANK");
  EXPECT_EQ(trace.identity().number(IdentityKey::kPid), child.slot().pid);
  EXPECT_EQ(trace.identity().text(IdentityKey::kTask), "rank3.testhost.7");
  EXPECT_EQ(trace.identity().text(IdentityKey::kExecutable), kProgram);
  EXPECT_EQ(trace.identity().text(IdentityKey::kCommandLine), std::string(kProgram) + '\0' + "one_event" + '\0');
  EXPECT_GE(trace.anchors().size(), 2u);
  EXPECT_EQ(trace.health().lost_blocks, 0u);
  ASSERT_TRUE(trace.footer());
  EXPECT_EQ(trace.footer()->record.events, 1u);
  const auto events = test::events_of(trace);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event.fields[1], 17u);
  EXPECT_EQ(trace.tid(events[0].thread), static_cast<std::uint32_t>(child.slot().pid));
  EXPECT_GE(events[0].event.stamp, trace.anchors().front().counter);
  EXPECT_LE(events[0].event.stamp, trace.anchors().back().counter);
}

TEST(Session, AProcessWithoutEventsLeavesAWholeSpool) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "nothing_but_attach"), 0);
  EXPECT_TRUE(child.trace().footer());
  EXPECT_TRUE(test::events_of(child.trace()).empty());
}

TEST(Session, EveryEventIsRecordedOrCountedAsDropped) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "flood"), 0);
  const rundir::SpoolTrace trace = child.trace();
  const auto events = test::events_of(trace);
  EXPECT_EQ(static_cast<std::int64_t>(events.size()), child.reported("recorded"));
  const auto dropped = static_cast<std::int64_t>(child.drops(Drop::kRingFull));
  EXPECT_GT(dropped, 0) << "the rings were never full: this run proves nothing about full rings";
  EXPECT_EQ(child.reported("recorded") + dropped, child.reported("emitted"));
  EXPECT_EQ(trace.drops().at(static_cast<std::uint32_t>(Drop::kRingFull)), child.drops(Drop::kRingFull));
  EXPECT_EQ(trace.footer()->record.events, events.size());

  // Within a thread numbers and stamps rise, and a payload is the one of its event.
  std::map<std::uint32_t, ThreadEvent> last;
  for (const ThreadEvent& now : events) {
    if (const auto before = last.find(now.thread); before != last.end()) {
      ASSERT_GT(now.event.fields[1], before->second.event.fields[1]);
      ASSERT_GE(now.event.stamp, before->second.event.stamp);
    }
    for (std::size_t at = 0; at + 8 <= now.event.payload_bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, now.event.payload + at, sizeof word);
      ASSERT_EQ(word, now.event.fields[1]);
    }
    last[now.thread] = now;
  }
  EXPECT_EQ(last.size(), 4u);
}

TEST(Session, ThreadsThatCameAndWentShareRings) {
  ChildRun child;
  child.plan().ring_bytes = 4096;
  ASSERT_EQ(child.run(kProgram, "many_threads"), 0);
  const auto events = test::events_of(child.trace());
  EXPECT_EQ(static_cast<std::int64_t>(events.size() + child.drops(Drop::kNoThreadRing)), child.reported("emitted"));
  std::set<std::uint64_t> numbers;
  std::set<std::uint32_t> threads;
  for (const ThreadEvent& e : events) {
    numbers.insert(e.event.fields[1]);
    threads.insert(e.thread);
    EXPECT_NE(child.trace().tid(e.thread), 0u);
    if (HasFailure()) break;
  }
  EXPECT_EQ(numbers.size(), events.size());
  EXPECT_EQ(threads.size(), events.size()) << "each thread has a number of its own, whoever had the ring before";
}

TEST(Session, ThreadsBeyondTheLastRingAreCounted) {
  ChildRun child;
  child.plan().ring_bytes = 4096;
  ASSERT_EQ(child.run(kProgram, "crowd"), 0);
  EXPECT_EQ(test::events_of(child.trace()).size(), 1024u);
  EXPECT_EQ(child.drops(Drop::kNoThreadRing), static_cast<std::uint64_t>(child.reported("emitted")) - 1024);
}

TEST(Session, ARecordInsideARecordIsDroppedAndHarmsNothing) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "inside_a_record"), 0);
  EXPECT_EQ(child.reported("nested"), 0);
  EXPECT_EQ(child.reported("after"), 1);
  const rundir::SpoolTrace trace = child.trace();
  const auto events = test::events_of(trace);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].event.fields[1], 4u);
  EXPECT_EQ(events[1].event.fields[1], 6u);
  EXPECT_EQ(child.drops(Drop::kRingFull), 1u);
}

TEST(Session, AllThreadsMayAttachAtOnce) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "all_attach_at_once"), 0);
  EXPECT_EQ(child.reported("attached"), 8);
  EXPECT_EQ(child.claimed_slots(), 1u);
  EXPECT_EQ(test::events_of(child.trace()).size(), 8u);
}

TEST(Session, EventsAfterTheEndAreCounted) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "events_after_end"), 0);
  EXPECT_EQ(test::events_of(child.trace()).size(), 1u);
  EXPECT_EQ(child.drops(Drop::kAfterEnd), 5u);
}

TEST(Session, AProcessThatSkipsItsExitHandlersLeavesAReadableSpool) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "killed_without_exit"), 7);
  EXPECT_EQ(child.slot().state.load(), SlotState::kRecording);
  const rundir::SpoolTrace trace = child.trace();
  EXPECT_FALSE(trace.footer());
  EXPECT_EQ(trace.identity().number(IdentityKey::kRank), 3);
  EXPECT_LE(test::events_of(trace).size(), 100u);
}

TEST(Fork, AChildIsNotRecordedAndHarmsNothing) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "fork_child"), 0);
  EXPECT_EQ(child.reported("child_status"), 0);
  EXPECT_EQ(child.reported("child_attached"), 0);
  EXPECT_EQ(child.claimed_slots(), 1u);
  EXPECT_EQ(child.drops(Drop::kForkedChild), 10u);
  const rundir::SpoolTrace trace = child.trace();
  const auto events = test::events_of(trace);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].event.fields[1], 2u);
  EXPECT_TRUE(trace.footer());
}

TEST(Fork, AChildThatExecsIsAProcessOfItsOwn) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "fork_child_that_execs"), 0);
  EXPECT_EQ(child.claimed_slots(), 2u);
  EXPECT_EQ(child.slot(0).state.load(), SlotState::kEnded);
  EXPECT_EQ(child.slot(1).state.load(), SlotState::kEnded);
  EXPECT_NE(child.slot(0).pid, child.slot(1).pid);
  EXPECT_EQ(child.slot(1).events.load(), 1u);
}

TEST(Attach, WithoutASessionTheProcessIsLeftAlone) {
  ChildRun child;
  child.leave_out_session();
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
  EXPECT_EQ(child.claimed_slots(), 0u);
}

TEST(Attach, APageThatIsNoneIsIgnored) {
  ChildRun child;
  child.leave_out_session();
  child.environment().push_back("JAXPROF_SESSION=/proc/self/status");
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
}

TEST(Attach, AProcessOfAnotherNodeStaysDeadAndIsCounted) {
  ChildRun child;
  std::snprintf(child.plan().boot_id, sizeof child.plan().boot_id, "another-boot");
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
  EXPECT_EQ(child.strangers(), 1u);
  EXPECT_EQ(child.claimed_slots(), 0u);
  EXPECT_TRUE(std::filesystem::is_empty(child.folder()));
}

TEST(Attach, AProcessOfAnotherStepStaysDeadAndIsCounted) {
  ChildRun child;
  std::snprintf(child.plan().slurm.job_id, sizeof child.plan().slurm.job_id, "7");
  for (const char* entry : {"SLURM_JOB_ID=7", "SLURM_STEP_ID=1", "SLURM_TASK_PID=1"}) {
    child.environment().push_back(entry);
  }
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
  EXPECT_EQ(child.strangers(), 1u);
  EXPECT_EQ(child.claimed_slots(), 0u);
}

TEST(Attach, AnUnselectedRankGoesDead) {
  ChildRun child;
  std::snprintf(child.plan().selection.ranks, sizeof child.plan().selection.ranks, "0-2");
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
  EXPECT_EQ(child.slot().state.load(), SlotState::kNotSelected);
  EXPECT_TRUE(std::filesystem::is_empty(child.folder()));
}

TEST(Attach, WhatTheWrapperDecidedIsForItsOwnRankOnly) {
  const auto wrap = [](SessionPlan& plan) {
    std::snprintf(plan.selection.ranks, sizeof plan.selection.ranks, "0-2");
    plan.is_task_taken = 1;
    plan.task_rank.rank = 3;
    plan.task_rank.world_size = 8;
  };
  ChildRun own;
  wrap(own.plan());
  ASSERT_EQ(own.run(kProgram, "one_event"), 0);
  EXPECT_EQ(own.reported("attached"), 1);
  ChildRun inner;
  wrap(inner.plan());
  inner.environment() = {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"};
  ASSERT_EQ(inner.run(kProgram, "one_event"), 0);
  EXPECT_EQ(inner.slot().state.load(), SlotState::kNotSelected);
}

TEST(Attach, ASelectionThatCannotBeDecidedIsAFailureWithItsReason) {
  ChildRun child;
  std::snprintf(child.plan().selection.ranks, sizeof child.plan().selection.ranks, "0-2");
  child.environment().clear();
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.slot().state.load(), SlotState::kFailed);
  EXPECT_THAT(child.slot().note, testing::HasSubstr("the selection needs rank"));
}

TEST(Attach, ASpoolDirectoryThatIsGoneIsAFailureWithItsReason) {
  ChildRun child;
  std::filesystem::remove(child.folder());
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
  EXPECT_EQ(child.slot().state.load(), SlotState::kFailed);
  EXPECT_STREQ(child.slot().note, "cannot make the memory file: errno 2");
}

TEST(Attach, NamesAVariableThatTheTemplateMissed) {
  ChildRun child;
  std::snprintf(child.plan().stem_template, sizeof child.plan().stem_template, "%%q{NOT_SET}.%%r");
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_STREQ(child.slot().stem, "unset-NOT_SET.3");
  EXPECT_STREQ(child.slot().unset_variable, "NOT_SET");
}

TEST(Attach, HasANameWhereTheTemplateGivesNone) {
  ChildRun child;
  std::snprintf(child.plan().stem_template, sizeof child.plan().stem_template, "%%q{NOT_SET:-..}");
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_STREQ(child.slot().stem, "rank3");
}

TEST(Strings, BeyondTheLogAreLostAndCounted) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "strings_overflow"), 0);
  EXPECT_GT(child.reported("lost"), 0);
  EXPECT_EQ(static_cast<std::int64_t>(child.drops(Drop::kStateLogFull)), child.reported("lost"));
  EXPECT_EQ(child.reported("first_again"), 1) << "what is known stays known";
  const rundir::SpoolTrace trace = child.trace();
  EXPECT_EQ(trace.text(1), "0" + std::string(1000, 'x'));
  EXPECT_NE(trace.text(static_cast<spool::StringId>(20'000 - child.reported("lost"))), "(lost string)");
  EXPECT_EQ(trace.text(static_cast<spool::StringId>(20'001 - child.reported("lost"))), "(lost string)");
  EXPECT_EQ(trace.text(spool::kLostString), "(lost string)");
}

TEST(Strings, TooLongOnesAreCutAndCounted) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "long_string"), 0);
  EXPECT_EQ(child.drops(Drop::kPayloadTruncated), 1u);
  EXPECT_EQ(child.trace().text(static_cast<spool::StringId>(child.reported("id"))), std::string(65535, 'y'));
}

TEST(Strings, AllThreadsAgreeOnANumber) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "strings_of_all_threads"), 0);
  EXPECT_EQ(child.reported("different"), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(child.reported("lost")), child.drops(Drop::kStateLogFull));
  const rundir::SpoolTrace trace = child.trace();
  std::set<std::string_view> texts;
  for (spool::StringId id = 1; trace.text(id) != "(lost string)"; ++id) {
    EXPECT_TRUE(texts.insert(trace.text(id)).second) << trace.text(id) << " has two numbers";
  }
  EXPECT_LE(texts.size(), 2000u);
  EXPECT_GE(texts.size(), 1900u);
}

}  // namespace
}  // namespace jaxprof::collect
