#include "tests/unit/match/matched_tables.h"

#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

using runfile::Coll;
using runfile::Dtype;
using runfile::Redop;

class InstancesTest : public testing::Test {
 protected:
  InstancesTest() {
    const std::size_t row = runfile::add_row(run_.comms);
    run_.comms.comm[row] = 0;
    run_.comms.n_ranks[row] = 2;
    run_.processes.node = {0, 0, 0};
  }

  // A call of the process that was begun last.
  std::size_t call(std::int32_t comm_rank, std::uint64_t sequence, std::int64_t enqueue_ns = 0) {
    const std::size_t row = runfile::add_row(run_.nccl);
    run_.nccl.comm[row] = 0;
    run_.nccl.comm_rank[row] = comm_rank;
    run_.nccl.seq[row] = sequence;
    run_.nccl.coll[row] = Coll::kAllReduce;
    run_.nccl.dtype[row] = Dtype::kF32;
    run_.nccl.redop[row] = Redop::kSum;
    run_.nccl.size_bytes[row] = 4096;
    run_.nccl.enqueue_ns[row] = enqueue_ns;
    calls_in_plan_.push_back(1);
    run_.nccl_process_offset.back() = row + 1;
    return row;
  }
  void next_process() { run_.nccl_process_offset.push_back(runfile::n_rows(run_.nccl)); }
  void begin() { run_.nccl_process_offset = {0, 0}; }

  UnmatchedCalls match() { return match_instances(calls_in_plan_, has_lost_gpu_work_, &run_); }

  runfile::RunTables run_;
  std::vector<std::uint64_t> calls_in_plan_;
  std::vector<bool> has_lost_gpu_work_ = {false, false, false};
};

TEST_F(InstancesTest, JoinsTheMembersOfACall) {
  begin();
  call(0, 5, 100);
  call(0, 6, 300);
  next_process();
  call(1, 5, 150);
  call(1, 6, 250);
  const UnmatchedCalls unmatched = match();
  const runfile::CollectiveTable& table = run_.collectives;
  ASSERT_EQ(runfile::n_rows(table), 2u);
  EXPECT_EQ(table.seq, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(table.n_seen, (std::vector<std::uint32_t>{2, 2}));
  EXPECT_EQ(table.flags, (std::vector<std::uint16_t>{0, 0}));
  EXPECT_EQ(table.first_enqueue_ns, (std::vector<std::int64_t>{100, 250}));
  EXPECT_EQ(table.last_enqueue_ns, (std::vector<std::int64_t>{150, 300}));
  EXPECT_EQ(table.last_member, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(run_.collective_member_offset, (std::vector<std::uint64_t>{0, 2, 4}));
  EXPECT_EQ(run_.collective_members.event_row, (std::vector<std::uint64_t>{0, 2, 1, 3}));
  EXPECT_EQ(run_.nccl.instance, (std::vector<std::uint64_t>{0, 1, 0, 1}));
  EXPECT_EQ(unmatched.repeated + unmatched.without_communicator + unmatched.without_sequence, 0u);
}

class InstancesOnTwoNodes : public InstancesTest {
 protected:
  InstancesOnTwoNodes() {
    run_.processes.node = {0, 1};
    begin();
    call(0, 5, 100);
    call(0, 6, 100);
    next_process();
    call(1, 5, 150);
  }
  // Of the second node against the first.
  void set_clock_errors(double sigma_ns, double bound_ns) {
    for (const double share : {0.0, 1.0}) {
      const std::size_t knot = runfile::add_row(run_.clock_model);
      run_.clock_model.time_ns[knot] = 0;
      run_.clock_model.sigma_ns[knot] = share * sigma_ns;
      run_.clock_model.hard_lo_ns[knot] = -share * bound_ns;
      run_.clock_model.hard_hi_ns[knot] = share * bound_ns;
    }
    run_.clock_model_offset = {0, 1, 2};
  }
};

TEST_F(InstancesOnTwoNodes, AreUnresolvedWithoutABoundOfTheirClocks) {
  match();
  EXPECT_EQ(run_.collectives.flags,
            (std::vector<std::uint16_t>{runfile::kInstanceUnresolved, runfile::kInstancePartial}));
  EXPECT_EQ(run_.collectives.last_member.at(0), 1);
}

TEST_F(InstancesOnTwoNodes, AreCertainBeyondTheBoundOfTheirClocks) {
  set_clock_errors(5, 40);
  match();
  EXPECT_EQ(run_.collectives.flags, (std::vector<std::uint16_t>{runfile::kInstanceCertain, runfile::kInstancePartial}));
  EXPECT_EQ(run_.collectives.clock_bound_ns.at(0), 40);
  EXPECT_EQ(run_.collectives.clock_sigma_ns.at(0), 5);
  EXPECT_EQ(run_.collectives.clock_bound_ns.at(1), 0) << "its one member is on one node";
}

TEST_F(InstancesOnTwoNodes, AreResolvedBeyondThreeSigma) {
  set_clock_errors(10, 4000);
  match();
  EXPECT_EQ(run_.collectives.flags, (std::vector<std::uint16_t>{0, runfile::kInstancePartial}));
}

TEST_F(InstancesOnTwoNodes, AreUnresolvedWithinThreeSigma) {
  set_clock_errors(20, 4000);
  match();
  EXPECT_EQ(run_.collectives.flags,
            (std::vector<std::uint16_t>{runfile::kInstanceUnresolved, runfile::kInstancePartial}));
  EXPECT_EQ(run_.collectives.clock_bound_ns.at(0), 4000);
}

TEST_F(InstancesTest, MarksAnInstanceThatLacksMembers) {
  begin();
  call(0, 0);
  match();
  EXPECT_EQ(run_.collectives.flags.at(0), runfile::kInstancePartial);
  EXPECT_EQ(run_.collectives.n_ranks.at(0), 2u);
  EXPECT_EQ(run_.collectives.n_seen.at(0), 1u);
}

TEST_F(InstancesTest, CountsMembersWhereTheSizeIsUnknown) {
  run_.comms.n_ranks[0] = runfile::kNoIndex;
  begin();
  call(0, 0);
  next_process();
  call(1, 0);
  next_process();
  call(2, 0);
  match();
  EXPECT_EQ(run_.collectives.n_ranks.at(0), 3u);
  EXPECT_EQ(run_.collectives.flags.at(0), 0);
}

TEST_F(InstancesTest, MarksMembersThatDisagree) {
  begin();
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) call(0, sequence);
  next_process();
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) call(1, sequence);
  run_.nccl.size_bytes[4] = 1;
  run_.nccl.dtype[5] = Dtype::kF16;
  run_.nccl.redop[6] = Redop::kMax;
  run_.nccl.algo[7] = runfile::Algo::kTree;  // tuning may differ
  match();
  EXPECT_EQ(run_.collectives.flags, (std::vector<std::uint16_t>{4, 4, 4, 0}));
  EXPECT_EQ(run_.collectives.size_bytes[0], runfile::kNoRow);
  EXPECT_EQ(run_.collectives.dtype[1], Dtype::kUnknown);
}

TEST_F(InstancesTest, WhatAMemberDoesNotKnowIsNoDisagreement) {
  begin();
  run_.nccl.dtype[call(0, 0)] = Dtype::kMissing;  // by NVTX alone
  next_process();
  const std::size_t row = call(1, 0);  // by the plugin alone
  run_.nccl.redop[row] = Redop::kMissing;
  match();
  EXPECT_EQ(run_.collectives.flags.at(0), 0);
  EXPECT_EQ(run_.collectives.dtype.at(0), Dtype::kF32);
  EXPECT_EQ(run_.collectives.size_bytes.at(0), 4096u);
}

TEST_F(InstancesTest, ARepeatedCallOfAMemberIsCountedAndLeftOut) {
  begin();
  call(0, 5);
  const std::size_t repeated = call(0, 5);
  next_process();
  call(1, 5);
  EXPECT_EQ(match().repeated, 1u);
  EXPECT_EQ(run_.collectives.n_seen.at(0), 2u);
  EXPECT_EQ(run_.nccl.instance[repeated], runfile::kNoRow);
}

TEST_F(InstancesTest, MembersOfUnknownRankAreToldApartByProcess) {
  begin();
  call(-1, 5);
  next_process();
  call(-1, 5);
  EXPECT_EQ(match().repeated, 0u);
  EXPECT_EQ(run_.collectives.n_seen.at(0), 2u);
}

TEST_F(InstancesTest, MembersOfOneProcessMayHaveUnknownRanks) {
  begin();
  call(-1, 5, 100);
  call(-1, 5, 150);
  EXPECT_EQ(match().repeated, 0u);
  EXPECT_EQ(run_.collectives.n_seen.at(0), 2u);
  EXPECT_EQ(run_.collectives.flags.at(0), 0);
  EXPECT_EQ(run_.collectives.last_member.at(0), -1);
}

TEST_F(InstancesTest, CountsWhatCannotBeMatched) {
  begin();
  run_.nccl.comm[call(0, 0)] = runfile::kNoIndex;
  run_.nccl.seq[call(0, 0)] = runfile::kNoRow;
  run_.nccl.coll[call(0, 0)] = Coll::kSend;
  run_.nccl.parent[call(0, 0)] = 0;
  const UnmatchedCalls unmatched = match();
  EXPECT_EQ(unmatched.without_communicator, 1u);
  EXPECT_EQ(unmatched.without_sequence, 1u);
  EXPECT_EQ(runfile::n_rows(run_.collectives), 0u);
}

TEST_F(InstancesTest, ReplaysOfAProcessThatLostGpuWorkAreNotMatched) {
  run_.processes.process = {0, 1, 2};
  has_lost_gpu_work_[1] = true;
  begin();
  run_.nccl.replay[call(0, 5)] = 0;
  next_process();
  const std::size_t unknown = call(1, 5);
  run_.nccl.replay[unknown] = 0;
  call(1, 6);
  EXPECT_EQ(match().replays_after_losses, 1u);
  EXPECT_EQ(run_.nccl.instance[unknown], runfile::kNoRow);
  EXPECT_EQ(run_.collectives.n_seen, (std::vector<std::uint32_t>{1, 1})) << "what is no replay is matched";
}

TEST_F(InstancesTest, FunctionsAreNumberedByThemselves) {
  begin();
  call(0, 0);
  run_.nccl.coll[call(0, 0)] = Coll::kAllGather;
  match();
  EXPECT_EQ(runfile::n_rows(run_.collectives), 2u);
}

TEST_F(InstancesTest, MarksCallsThatSharedAKernel) {
  begin();
  call(0, 0);
  next_process();
  calls_in_plan_[call(1, 0)] = 3;
  match();
  EXPECT_EQ(run_.collectives.flags.at(0), runfile::kInstanceGrouped);
}

}  // namespace
}  // namespace jaxprof::match
