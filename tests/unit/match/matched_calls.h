// Calls of several processes made by hand, and all that InstanceMatcher makes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "merge/match/instance_matcher.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::test {

struct Matched {
  runfile::CollectiveTable collectives;
  std::vector<std::uint64_t> member_rows;
  std::vector<std::uint64_t> member_offset{0};
  std::vector<match::InstanceBatch> batches;
  runfile::TransferTable transfers;
  std::vector<std::uint64_t> instance;  // by row of /events/nccl
  std::vector<std::uint64_t> transfer;  // the same
  match::UnmatchedCalls unmatched;
  match::UnmatchedTransfers unmatched_transfers;
};

// `processes` on nodes of their own, each member of communicators 0 to 3 of as many ranks.
inline match::MatchFacts facts_of(std::uint32_t processes) {
  match::MatchFacts facts;
  facts.rank_count.assign(4, processes);
  for (std::uint32_t process = 0; process < processes; ++process) facts.node.push_back(process);
  facts.opened_by_time.resize(processes);
  facts.has_lost_gpu_work.resize(processes);
  return facts;
}

// A call of AllReduce by rank `process` of communicator 0.
inline match::CallRecord call_of(std::uint32_t process, std::uint64_t seq, std::uint64_t row) {
  match::CallRecord call;
  call.row = row;
  call.seq = seq;
  call.size_bytes = 4096;
  call.enqueue_ns = static_cast<std::int64_t>(1000 * seq + process);
  call.comm = 0;
  call.process = process;
  call.comm_rank = static_cast<std::int32_t>(process);
  call.coll = runfile::Coll::kAllReduce;
  call.dtype = runfile::Dtype::kF32;
  return call;
}

inline Matched matched(const match::MatchFacts& facts, const std::vector<match::CallRecord>& calls,
                       const std::string& folder = "", std::size_t budget_bytes = std::size_t{1} << 40) {
  Matched result;
  match::InstanceMatcher matcher(facts, folder, budget_bytes);
  std::uint64_t row_count = 0;
  for (const match::CallRecord& call : calls) {
    row_count = std::max(row_count, call.row + 1);
    EXPECT_TRUE(matcher.add(call));
  }
  const auto unmatched = matcher.match_collectives([&result](const match::InstanceBatch& batch) -> Status {
    const std::uint64_t first = result.member_rows.size();
    runfile::append_rows(result.collectives, batch.collectives);
    for (const match::CallRecord& call : batch.calls) result.member_rows.push_back(call.row);
    for (std::size_t i = 1; i < batch.first_member.size(); ++i) {
      result.member_offset.push_back(first + batch.first_member[i]);
    }
    result.batches.push_back(batch);
    return {};
  });
  EXPECT_TRUE(unmatched);
  if (unmatched) result.unmatched = *unmatched;
  const auto transfers = matcher.match_transfers([&result](const runfile::TransferTable& batch) -> Status {
    runfile::append_rows(result.transfers, batch);
    return {};
  });
  EXPECT_TRUE(transfers);
  if (transfers) result.unmatched_transfers = *transfers;
  const auto collect = [](std::vector<std::uint64_t>* to) {
    return [to](std::span<const std::uint64_t> rows) -> Status {
      to->insert(to->end(), rows.begin(), rows.end());
      return {};
    };
  };
  EXPECT_TRUE(matcher.for_each_instance(row_count, collect(&result.instance)));
  EXPECT_TRUE(matcher.for_each_transfer(row_count, collect(&result.transfer)));
  return result;
}

}  // namespace jaxprof::test
