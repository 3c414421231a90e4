#include "merge/match/instance_matcher.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "merge/match/arrivals.h"
#include "merge/match/instance_rows.h"
#include "merge/match/match_order.h"
#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"
#include "merge/scratch/sorted_spill.h"

namespace jaxprof::match {
namespace {

constexpr std::size_t kBatchCalls = 8192;
constexpr std::size_t kBatchRows = 2048;  // of small instances
constexpr std::size_t kRowsAtOnce = 16'384;

// Which row of /collectives or /transfers a row of /events/nccl belongs to.
struct RowTarget {
  std::uint64_t row;
  std::uint64_t target;
};
struct ByRow {
  static scratch::Leading leading(const RowTarget& item) { return {0, item.row}; }
  bool operator()(const RowTarget& a, const RowTarget& b) const { return a.row < b.row; }
};
using RowTargets = scratch::SortedSpill<RowTarget, ByRow>;

// Calls of unknown rank have one number only if they were told to be of different members (call_numbers.h).
bool is_same_member(const CallRecord& a, const CallRecord& b) {
  return a.comm_rank == b.comm_rank && a.process == b.process && a.comm_rank >= 0;
}

// Hands out the target of each row below `row_count`, in order.
Status for_each_target(RowTargets* targets, std::uint64_t row_count,
                       const std::function<Status(std::span<const std::uint64_t>)>& take) {
  std::vector<std::uint64_t> values;
  std::uint64_t row = 0;
  const auto add = [&](std::uint64_t target) -> Status {
    values.push_back(target);
    ++row;
    if (values.size() < kRowsAtOnce) return {};
    auto taken = take(values);
    values.clear();
    return taken;
  };
  auto status = targets->for_each([&](const RowTarget& item) -> Status {
    if (item.row < row || item.row >= row_count) return {};  // named twice, or no row at all
    while (row < item.row) {
      if (auto added = add(runfile::kNoRow); !added) return added;
    }
    return add(item.target);
  });
  while (status && row < row_count) status = add(runfile::kNoRow);
  return status && !values.empty() ? take(values) : status;
}

}  // namespace

struct InstanceMatcher::State {
  State(MatchFacts known, const std::string& folder, std::size_t budget_bytes)
      : facts(std::move(known)),
        collectives(std::in_place, folder, budget_bytes / 2),
        transfers(std::in_place, folder, budget_bytes / 4),
        instance_of(folder, budget_bytes / 8),
        transfer_of(folder, budget_bytes / 8) {}

  // Whether it is not known which replay of its graph a call was, and why not.
  bool is_of_unknown_window(const CallRecord& call) const {
    return call.replay != runfile::kNoRow && facts.opened_by_time[call.process];
  }
  bool is_after_loss(const CallRecord& call) const {
    return call.replay != runfile::kNoRow && facts.has_lost_gpu_work[call.process];
  }

  // The members of one instance, at the end of the batch from `first` on, become a row.
  Status close_instance(std::size_t first, InstanceBatch* batch);

  MatchFacts facts;
  UnmatchedCalls unmatched;
  UnmatchedTransfers unmatched_transfers;
  std::optional<scratch::SortedSpill<CallRecord, CollectiveOrder>> collectives;  // until they are matched
  std::optional<scratch::SortedSpill<CallRecord, TransferOrder>> transfers;
  RowTargets instance_of;
  RowTargets transfer_of;
  std::uint64_t instance_count = 0;
  Arrivals arrivals{facts.node, facts.clocks};
};

InstanceMatcher::InstanceMatcher(MatchFacts facts, std::string folder, std::size_t budget_bytes)
    : state_(std::make_unique<State>(std::move(facts), folder, budget_bytes)) {}
InstanceMatcher::~InstanceMatcher() = default;

Status InstanceMatcher::add(const CallRecord& call) {
  State& state = *state_;
  if (is_point_to_point(call.coll)) {
    const bool is_known =
        call.comm != runfile::kNoIndex && call.seq != runfile::kNoRow && call.comm_rank >= 0 && call.peer >= 0;
    if (!is_known) {
      ++state.unmatched_transfers.unnumbered;
    } else if (state.is_of_unknown_window(call) || state.is_after_loss(call)) {
      ++state.unmatched_transfers.replays;
    } else {
      return state.transfers->add(call);
    }
    return {};
  }
  if (call.is_part) return {};
  if (call.comm == runfile::kNoIndex) {
    ++state.unmatched.without_communicator;
  } else if (call.seq == runfile::kNoRow) {
    ++state.unmatched.without_sequence;
  } else if (state.is_of_unknown_window(call)) {
    ++state.unmatched.unnumbered_replays;
  } else if (state.is_after_loss(call)) {
    ++state.unmatched.replays_after_losses;
  } else {
    return state.collectives->add(call);
  }
  return {};
}

Status InstanceMatcher::State::close_instance(std::size_t first, InstanceBatch* batch) {
  const auto begin = batch->calls.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = std::unique(begin, batch->calls.end(), is_same_member);
  unmatched.repeated += static_cast<std::uint64_t>(batch->calls.end() - end);
  batch->calls.erase(end, batch->calls.end());
  const std::span members = std::span(batch->calls).subspan(first);
  add_instance(members, facts.rank_count[members.front().comm], &arrivals, &batch->collectives);
  batch->first_member.push_back(batch->calls.size());
  for (const CallRecord& member : members) {
    if (auto added = instance_of.add({member.row, instance_count}); !added) return added;
  }
  ++instance_count;
  return {};
}

Result<UnmatchedCalls> InstanceMatcher::match_collectives(const std::function<Status(const InstanceBatch&)>& take) {
  State& state = *state_;
  InstanceBatch batch;
  std::size_t first = 0;  // of the instance at hand
  const auto hand_out = [&]() -> Status {
    auto taken = take(batch);
    runfile::resize_rows(batch.collectives, 0);
    batch.calls.clear();
    batch.first_member = {0};
    return taken;
  };
  auto status = state.collectives->for_each([&](const CallRecord& call) -> Status {
    const bool is_next =
        batch.calls.size() > first && CollectiveOrder::instance(call) != CollectiveOrder::instance(batch.calls.back());
    if (is_next) {
      if (auto closed = state.close_instance(first, &batch); !closed) return closed;
      if (batch.calls.size() >= kBatchCalls || batch.first_member.size() > kBatchRows) {
        if (auto taken = hand_out(); !taken) return taken;
      }
      first = batch.calls.size();
    }
    batch.calls.push_back(call);
    return {};
  });
  if (status && batch.calls.size() > first) status = state.close_instance(first, &batch);
  if (status && !batch.calls.empty()) status = hand_out();
  state.collectives.reset();
  if (!status) return tl::unexpected(std::move(status.error()));
  return state.unmatched;
}

Result<UnmatchedTransfers> InstanceMatcher::match_transfers(
    const std::function<Status(const runfile::TransferTable&)>& take) {
  State& state = *state_;
  runfile::TransferTable batch;
  std::uint64_t count = 0;  // before the one at hand
  std::array<CallRecord, 2> sides;
  std::size_t known_sides = 0;
  const auto close = [&]() -> Status {
    if (known_sides == 0) return {};
    add_transfer(std::span(sides).first(known_sides), &state.arrivals, &batch);
    known_sides = 0;
    ++count;
    if (batch.comm.size() < kBatchCalls) return {};
    auto taken = take(batch);
    runfile::resize_rows(batch, 0);
    return taken;
  };
  auto status = state.transfers->for_each([&](const CallRecord& call) -> Status {
    if (known_sides > 0 && TransferOrder::transfer(call) != TransferOrder::transfer(sides[0])) {
      if (auto closed = close(); !closed) return closed;
    }
    const bool is_repeated = known_sides > 0 && sides[known_sides - 1].coll == call.coll;
    if (is_repeated) {
      ++state.unmatched_transfers.repeated;
      return {};
    }
    sides[known_sides++] = call;
    return state.transfer_of.add({call.row, count});
  });
  if (status) status = close();
  if (status && !batch.comm.empty()) status = take(batch);
  state.transfers.reset();
  if (!status) return tl::unexpected(std::move(status.error()));
  return state.unmatched_transfers;
}

Status InstanceMatcher::for_each_instance(std::uint64_t row_count,
                                          const std::function<Status(std::span<const std::uint64_t>)>& take) {
  return for_each_target(&state_->instance_of, row_count, take);
}

Status InstanceMatcher::for_each_transfer(std::uint64_t row_count,
                                          const std::function<Status(std::span<const std::uint64_t>)>& take) {
  return for_each_target(&state_->transfer_of, row_count, take);
}

}  // namespace jaxprof::match
