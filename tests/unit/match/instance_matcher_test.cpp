// Instances of calls that come in any order and do not fit into memory; instances_test.cpp has what an instance is.
#include "merge/match/instance_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/match/matched_calls.h"

namespace jaxprof::match {
namespace {

using runfile::Coll;
using runfile::kNoRow;
using test::call_of;
using test::facts_of;
using test::matched;
using test::Matched;
using testing::ElementsAre;
using testing::IsEmpty;

// Columns of NaN among them compare by their bits.
template <typename Table>
std::vector<std::vector<std::string>> text_of(const Table& table) {
  std::vector<std::vector<std::string>> columns;
  runfile::for_each_column(table, [&columns]<typename T>(const runfile::ColumnSpec<T>&, const std::vector<T>& column) {
    columns.emplace_back();
    for (const T& value : column) {
      if constexpr (std::is_enum_v<T>) {
        columns.back().push_back(std::to_string(static_cast<std::uint64_t>(value)));
      } else {
        columns.back().push_back(std::to_string(value));
      }
    }
  });
  return columns;
}

// Calls of 5 processes on 4 communicators, with numbers, captures and replays that come several times, and values that
// do not fit into what is compared first.
std::vector<CallRecord> random_calls(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  const auto one_of = [&random](auto... values) {
    const std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  std::vector<CallRecord> calls;
  for (std::size_t row = 0; row < count; ++row) {
    CallRecord call = call_of(static_cast<std::uint32_t>(random() % 5), random() % 20, row);
    call.comm = static_cast<std::uint32_t>(random() % 4);
    if (random() % 50 == 0) call.seq = (std::uint64_t{1} << 40) + random() % 2;
    call.coll = one_of(Coll::kAllReduce, Coll::kAllReduce, Coll::kAllGather, Coll::kSend, Coll::kRecv, Coll::kUnknown);
    call.peer = static_cast<std::int32_t>(random() % 5);
    if (random() % 10 == 0) call.comm_rank = one_of(-1, 70'000);
    if (random() % 5 == 0) call.capture = one_of(0ULL, 1ULL, 80'000ULL);
    if (call.capture != kNoRow)
      call.replay = one_of(kNoRow, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40);
    call.enqueue_ns = static_cast<std::int64_t>(random() % 1000);
    call.gpu_start_ns = random() % 3 == 0 ? runfile::kNoTime : call.enqueue_ns + 10;
    call.gpu_dur_ns = 100;
    call.size_bytes = one_of(std::uint64_t{4096}, std::uint64_t{4096}, std::uint64_t{8}, kNoRow);
    calls.push_back(call);
  }
  return calls;
}

// Which rows make up an instance, by what the contract says, and nothing else of it.
std::vector<std::vector<std::uint64_t>> instances_by_hand(const std::vector<CallRecord>& calls) {
  using Key = std::tuple<std::uint32_t, std::uint64_t, Coll, std::uint64_t, std::uint64_t>;
  std::map<Key, std::map<std::tuple<std::int32_t, std::uint32_t, std::uint64_t>, std::uint64_t>> members;
  for (const CallRecord& call : calls) {
    if (call.coll == Coll::kSend || call.coll == Coll::kRecv) continue;
    // Calls of unknown rank are members of their own; of a known rank the first one counts.
    const std::uint64_t apart = call.comm_rank < 0 ? call.row : 0;
    members[{call.comm, call.seq, call.coll, call.capture + 1, call.replay + 1}].try_emplace(
        {call.comm_rank, call.process, apart}, call.row);
  }
  std::vector<std::vector<std::uint64_t>> rows;
  for (const auto& [key, by_rank] : members) {
    rows.emplace_back();
    for (const auto& [rank, row] : by_rank) rows.back().push_back(row);
  }
  return rows;
}

std::vector<std::vector<std::uint64_t>> instances_of(const Matched& matched) {
  std::vector<std::vector<std::uint64_t>> rows;
  for (std::size_t i = 0; i + 1 < matched.member_offset.size(); ++i) {
    rows.emplace_back(matched.member_rows.begin() + static_cast<std::ptrdiff_t>(matched.member_offset[i]),
                      matched.member_rows.begin() + static_cast<std::ptrdiff_t>(matched.member_offset[i + 1]));
  }
  return rows;
}

TEST(InstanceMatcher, MakesTheInstancesThatTheKeysSay) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<CallRecord> calls = random_calls(seed, 1000);
    EXPECT_EQ(instances_of(matched(facts_of(5), calls)), instances_by_hand(calls)) << seed;
  }
}

TEST(InstanceMatcher, MakesTheSameOfCallsInAnyOrderWithinAnyBudget) {
  const test::TempFolder folder;
  std::mt19937_64 random(5);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<CallRecord> calls = random_calls(seed, 2000);
    const Matched expected = matched(facts_of(5), calls);
    ASSERT_GT(runfile::n_rows(expected.collectives), 100u);
    ASSERT_GT(runfile::n_rows(expected.transfers), 100u);
    for (const std::size_t budget_bytes : {std::size_t{0}, std::size_t{20'000}, std::size_t{300'000}}) {
      std::shuffle(calls.begin(), calls.end(), random);
      const Matched found = matched(facts_of(5), calls, folder.path(), budget_bytes);
      EXPECT_EQ(text_of(found.collectives), text_of(expected.collectives)) << budget_bytes;
      EXPECT_EQ(text_of(found.transfers), text_of(expected.transfers)) << budget_bytes;
      EXPECT_EQ(found.member_rows, expected.member_rows);
      EXPECT_EQ(found.member_offset, expected.member_offset);
      EXPECT_EQ(found.instance, expected.instance);
      EXPECT_EQ(found.transfer, expected.transfer);
      EXPECT_EQ(found.unmatched.repeated, expected.unmatched.repeated);
      EXPECT_EQ(found.unmatched_transfers.repeated, expected.unmatched_transfers.repeated);
    }
  }
}

TEST(InstanceMatcher, EveryRowPointsToItsInstance) {
  const std::vector<CallRecord> calls = random_calls(7, 5000);
  const Matched found = matched(facts_of(5), calls);
  std::vector<std::uint64_t> expected(calls.size(), kNoRow);
  for (std::size_t i = 0; i + 1 < found.member_offset.size(); ++i) {
    for (std::uint64_t at = found.member_offset[i]; at < found.member_offset[i + 1]; ++at) {
      expected[found.member_rows[at]] = i;
    }
  }
  EXPECT_EQ(found.instance, expected);
}

TEST(InstanceMatcher, HandsOutWholeInstancesInBatches) {
  std::vector<CallRecord> calls;
  for (std::uint64_t seq = 0; seq < 5000; ++seq) {
    for (std::uint32_t process = 0; process < 4; ++process) calls.push_back(call_of(process, seq, calls.size()));
  }
  const Matched found = matched(facts_of(4), calls);
  ASSERT_GT(found.batches.size(), 1u);
  for (const InstanceBatch& batch : found.batches) {
    ASSERT_EQ(batch.first_member.size(), runfile::n_rows(batch.collectives) + 1);
    EXPECT_EQ(batch.calls.size(), 4 * runfile::n_rows(batch.collectives));
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
      ASSERT_EQ(batch.calls[i].seq, batch.collectives.seq[i / 4]);
      ASSERT_EQ(batch.calls[i].comm_rank, static_cast<std::int32_t>(i % 4));
    }
  }
  EXPECT_THAT(found.collectives.n_seen, testing::Each(4u));
}

TEST(InstanceMatcher, StopsAtTheFirstFailure) {
  InstanceMatcher matcher(facts_of(2), "", 1 << 20);
  ASSERT_TRUE(matcher.add(call_of(0, 1, 0)));
  const auto result = matcher.match_collectives(
      [](const InstanceBatch&) -> Status { return fail(ErrorCode::kOutputFailed, "no room"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no room");
}

// ---- sends and receives

CallRecord send(std::uint32_t from, std::int32_t to, std::uint64_t seq, std::uint64_t row) {
  CallRecord call = call_of(from, seq, row);
  call.coll = Coll::kSend;
  call.peer = to;
  return call;
}
CallRecord receive(std::uint32_t to, std::int32_t from, std::uint64_t seq, std::uint64_t row) {
  CallRecord call = call_of(to, seq, row);
  call.coll = Coll::kRecv;
  call.peer = from;
  return call;
}
CallRecord part_of(Coll whole, CallRecord part) {
  part.is_part = true;
  part.whole = whole;
  return part;
}

TEST(Transfers, JoinASendWithItsReceive) {
  std::vector<CallRecord> calls = {send(0, 1, 0, 0), send(0, 1, 1, 1), receive(1, 0, 0, 2), receive(1, 0, 1, 3)};
  calls[1].enqueue_ns = 5000;
  calls[3].enqueue_ns = 4000;
  for (CallRecord& call : calls) call.gpu_start_ns = call.enqueue_ns + 7;
  calls[1].gpu_dur_ns = 10;
  calls[3].gpu_dur_ns = 2000;
  MatchFacts facts = facts_of(2);
  facts.node = {0, 0};
  const Matched found = matched(facts, calls);
  const runfile::TransferTable& table = found.transfers;
  EXPECT_THAT(table.source, ElementsAre(0, 0));
  EXPECT_THAT(table.destination, ElementsAre(1, 1));
  EXPECT_THAT(table.seq, ElementsAre(0, 1));
  EXPECT_THAT(table.coll, ElementsAre(Coll::kSend, Coll::kSend));
  EXPECT_THAT(table.send_row, ElementsAre(0, 1));
  EXPECT_THAT(table.recv_row, ElementsAre(2, 3));
  EXPECT_THAT(table.size_bytes, ElementsAre(4096, 4096));
  EXPECT_EQ(table.send_enqueue_ns[1], 5000);
  EXPECT_EQ(table.recv_enqueue_ns[1], 4000);
  EXPECT_EQ(table.send_start_ns[1], 5007);
  EXPECT_EQ(table.recv_start_ns[1], 4007);
  EXPECT_EQ(table.end_ns[1], 6007);
  EXPECT_THAT(table.flags, ElementsAre(0, 0));
  EXPECT_EQ(table.clock_bound_ns[0], 0);
  EXPECT_THAT(found.transfer, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(found.instance, testing::Each(kNoRow));
}

TEST(Transfers, DirectionsAndPeersAreNumberedByThemselves) {
  const Matched found = matched(facts_of(3), {send(0, 1, 0, 0), send(0, 2, 0, 1), receive(1, 0, 0, 2), send(1, 0, 0, 3),
                                              receive(0, 1, 0, 4), receive(2, 0, 0, 5)});
  EXPECT_THAT(found.transfers.source, ElementsAre(0, 0, 1));
  EXPECT_THAT(found.transfers.destination, ElementsAre(1, 2, 0));
  EXPECT_THAT(found.transfer, ElementsAre(0, 1, 0, 2, 2, 1));
}

TEST(Transfers, KeepAndMarkASideWithoutTheOther) {
  const Matched found = matched(facts_of(2), {send(0, 1, 4, 0), receive(1, 0, 5, 1)});
  EXPECT_THAT(found.transfers.seq, ElementsAre(4, 5));
  EXPECT_THAT(found.transfers.send_row, ElementsAre(0, kNoRow));
  EXPECT_THAT(found.transfers.recv_row, ElementsAre(kNoRow, 1));
  EXPECT_THAT(found.transfers.flags, ElementsAre(runfile::kInstancePartial, runfile::kInstancePartial));
  EXPECT_EQ(found.transfers.recv_enqueue_ns[0], runfile::kNoTime);
}

TEST(Transfers, MarkSidesThatDisagreeAndKernelsThatAreShared) {
  std::vector<CallRecord> calls = {send(0, 1, 0, 0), receive(1, 0, 0, 1), send(0, 1, 1, 2), receive(1, 0, 1, 3)};
  calls[1].size_bytes = 8;
  calls[3].calls_in_plan = 2;
  MatchFacts facts = facts_of(2);
  facts.node = {0, 0};
  const Matched found = matched(facts, calls);
  EXPECT_THAT(found.transfers.flags, ElementsAre(runfile::kInstanceMismatch, runfile::kInstanceGrouped));
  EXPECT_EQ(found.transfers.size_bytes[0], kNoRow);
}

TEST(Transfers, OfTwoNodesWithoutABoundAreUnresolved) {
  const Matched found = matched(facts_of(2), {send(0, 1, 0, 0), receive(1, 0, 0, 1)});
  EXPECT_THAT(found.transfers.flags, ElementsAre(runfile::kInstanceUnresolved));
  EXPECT_TRUE(std::isnan(found.transfers.clock_bound_ns[0]));
}

TEST(Transfers, PartsOfACallAreMatchedByItsNumber) {
  const Matched found =
      matched(facts_of(2), {part_of(Coll::kAllToAll, send(0, 1, 7, 0)), part_of(Coll::kScatter, send(0, 1, 7, 1)),
                            send(0, 1, 7, 2), part_of(Coll::kAllToAll, receive(1, 0, 7, 3)), receive(1, 0, 7, 4),
                            part_of(Coll::kScatter, receive(1, 0, 7, 5))});
  EXPECT_THAT(found.transfers.coll, ElementsAre(Coll::kAllToAll, Coll::kScatter, Coll::kSend));
  EXPECT_THAT(found.transfer, ElementsAre(0, 1, 2, 0, 2, 1));
  EXPECT_THAT(found.transfers.seq, ElementsAre(7, 7, 7));
}

TEST(Transfers, CountWhatNothingNumbers) {
  CallRecord without_peer = send(0, -1, 0, 1);
  CallRecord without_rank = send(0, 1, 0, 2);
  without_rank.comm_rank = -1;
  CallRecord of_time_window = receive(1, 0, 0, 3);
  of_time_window.replay = 0;
  MatchFacts facts = facts_of(2);
  facts.opened_by_time[1] = true;
  const Matched found = matched(
      facts, {send(0, 1, kNoRow, 0), without_peer, without_rank, of_time_window, send(0, 1, 3, 4), send(0, 1, 3, 5)});
  EXPECT_EQ(found.unmatched_transfers.unnumbered, 3u);
  EXPECT_EQ(found.unmatched_transfers.replays, 1u);
  EXPECT_EQ(found.unmatched_transfers.repeated, 1u);
  EXPECT_THAT(found.transfer, ElementsAre(kNoRow, kNoRow, kNoRow, kNoRow, 0, kNoRow));
}

}  // namespace
}  // namespace jaxprof::match
