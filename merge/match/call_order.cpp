// Places: an instance's place in its communicator's order is what the most members say by their own counts, each less a
// base that is settled at the member's first call here. Instances pass by in the order of numbers and functions, not of
// time; so whatever goes against the order is kept, and judged when it has been sorted by the member's own order: where
// places go back, calls were swapped. Calls that are not kept lie at the place of their own count.
#include "merge/match/call_order.h"

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include "merge/match/call_judge.h"
#include "merge/scratch/sorted_spill.h"

namespace jaxprof::match {
namespace {

struct Member {
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  std::int64_t base = 0;  // its `order` less the place, of calls that go as the others' do
  PlacedCall first;
  PlacedCall last;
  std::uint64_t last_order = 0;
  std::vector<Stretch> stretches;
  bool has_kept = false;    // something of it is among what is kept
  bool is_unclear = false;  // several members of unknown rank in one process

  auto key() const { return std::pair(rank, process); }
};

// What the most of `values` have in common.
struct Common {
  std::int64_t value = 0;
  bool is_even = false;  // as many have another one
};

// Of equally common ones that of the first.
Common most_common(const std::vector<std::int64_t>& values, std::vector<std::int64_t>* sorted) {
  if (std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == values.front(); })) {
    return {values.front(), false};
  }
  *sorted = values;
  std::sort(sorted->begin(), sorted->end());
  Common best;
  std::ptrdiff_t best_count = 0;
  for (auto first = sorted->begin(); first != sorted->end();) {
    const auto end = std::upper_bound(first, sorted->end(), *first);
    if (end - first >= best_count) {
      best.is_even = end - first == best_count;
      if (!best.is_even || *first == values.front()) best.value = *first;
      best_count = end - first;
    }
    first = end;
  }
  return best;
}

}  // namespace

struct CallOrder::State {
  State(std::vector<std::vector<std::int64_t>> openings, std::string folder, std::size_t budget_bytes)
      : window_openings_ns(std::move(openings)), kept(std::move(folder), budget_bytes) {}

  Status add_instance(std::span<const CallRecord> calls, std::int64_t first_enqueue_ns);
  void find_members(std::span<const CallRecord> calls);
  Common place_instance(std::span<const CallRecord> calls);
  Status keep(Member* member, KeptKind kind, std::int64_t at, const PlacedCall& call, bool is_even);
  void note_call(const CallRecord& call, const PlacedCall& placed, Member* member);
  std::size_t opening_of(std::uint32_t process, std::int64_t time_ns) const;
  Status close_comm();

  const std::vector<std::vector<std::int64_t>> window_openings_ns;
  scratch::SortedSpill<Kept, KeptOrder> kept;
  CallFindings findings;
  std::uint32_t comm = runfile::kNoIndex;
  std::vector<Member> members;       // of that communicator, by key
  std::int64_t next_place = 0;       // behind all instances so far
  std::vector<std::size_t> present;  // in `members`, of each call of the instance at hand
  std::vector<bool> is_new;          // the same: its first call
  std::vector<std::int64_t> votes;   // of members that were there before
  std::vector<std::int64_t> sorted;  // scratch of most_common
  std::vector<std::size_t> absent;   // in `members`
};

// Both are sorted by rank and process.
void CallOrder::State::find_members(std::span<const CallRecord> calls) {
  present.clear();
  is_new.clear();
  absent.clear();
  std::size_t at = 0;
  for (const CallRecord& call : calls) {
    const std::pair key(call.comm_rank, call.process);
    for (; at < members.size() && members[at].key() < key; ++at) absent.push_back(at);
    const bool is_known = at < members.size() && members[at].key() == key;
    if (!is_known && at > 0 && members[at - 1].key() == key) {  // unknown rank: the call before is of the same process
      members[at - 1].is_unclear = true;
      present.push_back(at - 1);
      is_new.push_back(false);
      continue;
    }
    if (!is_known) {
      Member member;
      std::tie(member.rank, member.process) = key;
      members.insert(members.begin() + static_cast<std::ptrdiff_t>(at), std::move(member));
    }
    present.push_back(at++);
    is_new.push_back(!is_known);
  }
  for (; at < members.size(); ++at) absent.push_back(at);
}

Common CallOrder::State::place_instance(std::span<const CallRecord> calls) {
  votes.clear();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!is_new[i]) votes.push_back(static_cast<std::int64_t>(calls[i].order) - members[present[i]].base);
  }
  // Nothing relates members that were not seen before to others: they come behind these.
  return votes.empty() ? Common{next_place, false} : most_common(votes, &sorted);
}

Status CallOrder::State::keep(Member* member, KeptKind kind, std::int64_t at, const PlacedCall& call, bool is_even) {
  member->has_kept = true;
  return kept.add({comm, member->rank, member->process, kind, is_even, at, member->base,
                   static_cast<std::int64_t>(member->last_order), call});
}

std::size_t CallOrder::State::opening_of(std::uint32_t process, std::int64_t time_ns) const {
  if (process >= window_openings_ns.size()) return 0;
  const std::vector<std::int64_t>& openings = window_openings_ns[process];
  return static_cast<std::size_t>(std::upper_bound(openings.begin(), openings.end(), time_ns) - openings.begin());
}

void CallOrder::State::note_call(const CallRecord& call, const PlacedCall& placed, Member* member) {
  if (member->stretches.empty() || placed.place < member->first.place) member->first = placed;
  if (member->stretches.empty() || placed.place >= member->last.place) member->last = placed;
  member->last_order = std::max(member->last_order, call.order);
  const std::size_t opening = opening_of(call.process, call.enqueue_ns);
  const auto stretch = std::find_if(member->stretches.rbegin(), member->stretches.rend(),
                                    [opening](const Stretch& item) { return item.opening == opening; });
  if (stretch == member->stretches.rend()) {
    member->stretches.push_back({opening, placed.place, placed.place});
  } else {
    stretch->first = std::min(stretch->first, placed.place);
    stretch->last = std::max(stretch->last, placed.place);
  }
}

Status CallOrder::State::add_instance(std::span<const CallRecord> calls, std::int64_t first_enqueue_ns) {
  if (calls.front().comm != comm) {
    if (auto closed = close_comm(); !closed) return closed;
    comm = calls.front().comm;
  }
  find_members(calls);
  const Common place = place_instance(calls);
  next_place = std::max(next_place, place.value + 1);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallRecord& call = calls[i];
    Member& member = members[present[i]];
    const auto order = static_cast<std::int64_t>(call.order);
    if (is_new[i]) member.base = order - place.value;
    const PlacedCall placed{place.value, call.seq, call.enqueue_ns, call.coll};
    note_call(call, placed, &member);
    if (order - member.base == place.value) continue;
    if (auto done = keep(&member, KeptKind::kCall, order, placed, place.is_even); !done) return done;
  }
  const PlacedCall made{place.value, calls.front().seq, first_enqueue_ns, calls.front().coll};
  for (const std::size_t at : absent) {
    if (auto done = keep(&members[at], KeptKind::kAbsence, place.value, made, false); !done) return done;
  }
  return {};
}

// Late starts and early ends are known now; stretches are put before what is kept of a member.
Status CallOrder::State::close_comm() {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> last;
  for (const Member& member : members) {
    if (member.is_unclear) continue;
    first.push_back(member.first.place);
    last.push_back(member.last.place);
  }
  // Where no two began alike, the earliest did as all should have.
  std::sort(first.begin(), first.end());
  std::sort(last.begin(), last.end(), std::greater<>());
  const std::int64_t common_first = first.empty() ? 0 : most_common(first, &sorted).value;
  const std::int64_t common_last = last.empty() ? 0 : most_common(last, &sorted).value;
  for (Member& member : members) {
    if (member.is_unclear) continue;
    const Kept place{comm, member.rank, member.process, KeptKind::kStretch, false, 0, 0, 0, {}};
    if (member.first.place > common_first) {
      findings.add(Deviation::kLateStart, place, member.first,
                   static_cast<std::uint64_t>(member.first.place - common_first), false, false);
    }
    if (member.last.place < common_last) {
      findings.add(Deviation::kEarlyEnd, place, member.last,
                   static_cast<std::uint64_t>(common_last - member.last.place), false, false);
    }
    if (!member.has_kept) continue;
    for (const Stretch& stretch : member.stretches) {
      PlacedCall end;
      end.place = stretch.last;
      if (auto done = keep(&member, KeptKind::kStretch, stretch.first, end, false); !done) return done;
    }
  }
  members.clear();
  next_place = 0;
  return {};
}

CallOrder::CallOrder(std::vector<std::vector<std::int64_t>> window_openings_ns, std::string folder,
                     std::size_t budget_bytes)
    : state_(std::make_unique<State>(std::move(window_openings_ns), std::move(folder), budget_bytes)) {}
CallOrder::~CallOrder() = default;

Status CallOrder::add(const InstanceBatch& batch) {
  for (std::size_t i = 0; i + 1 < batch.first_member.size(); ++i) {
    const std::span calls =
        std::span(batch.calls).subspan(batch.first_member[i], batch.first_member[i + 1] - batch.first_member[i]);
    const bool is_ordered =
        std::none_of(calls.begin(), calls.end(), [](const CallRecord& call) { return call.order == runfile::kNoRow; });
    if (!is_ordered || calls.empty()) continue;
    const std::int64_t time_ns = batch.collectives.first_enqueue_ns[i];
    if (auto added = state_->add_instance(calls, time_ns); !added) return added;
  }
  return {};
}

Result<std::vector<CallFinding>> CallOrder::finish() {
  auto status = state_->close_comm();
  MemberJudge judge(&state_->findings);
  if (status) {
    status = state_->kept.for_each([&judge](const Kept& kept) -> Status {
      judge.take(kept);
      return {};
    });
  }
  if (!status) return tl::unexpected(std::move(status.error()));
  judge.finish();
  return state_->findings.all();
}

}  // namespace jaxprof::match
