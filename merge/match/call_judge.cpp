#include "merge/match/call_judge.h"

#include <cstdlib>

namespace jaxprof::match {

void CallFindings::add(Deviation what, const Kept& member, const PlacedCall& call, std::uint64_t count, bool is_early,
                       bool is_even) {
  CallFinding& finding = found_[{member.process, what}];
  const bool is_first = finding.comm_count == 0;
  const bool is_at_end = what == Deviation::kLateStart || what == Deviation::kEarlyEnd;
  finding.what = what;
  finding.process = member.process;
  finding.count = is_at_end ? std::max(finding.count, count) : finding.count + count;
  ++finding.comm_count;
  if (!is_first && finding.time_ns <= call.time_ns) return;
  finding.comm = member.comm;
  finding.comm_rank = member.rank;
  finding.coll = call.coll;
  finding.seq = call.seq;
  finding.time_ns = call.time_ns;
  finding.is_early = is_early;
  finding.is_even = is_even;
}

std::vector<CallFinding> CallFindings::all() const {
  std::vector<CallFinding> findings;
  for (const auto& [key, finding] : found_) findings.push_back(finding);
  return findings;
}

void MemberJudge::take(const Kept& kept) {
  const auto member_of = [](const Kept& item) { return std::tie(item.comm, item.rank, item.process); };
  if (!at_ || member_of(at_->member) != member_of(kept)) {
    finish();
    at_.emplace();
    at_->member = kept;
  }
  switch (kept.kind) {
    case KeptKind::kStretch:
      at_->stretches.push_back({0, kept.at, kept.call.place});
      break;
    case KeptKind::kCall:
      take_call(kept);
      break;
    case KeptKind::kAbsence:
      take_absence(kept);
      break;
  }
}

void MemberJudge::finish() {
  // Without a stretch it is unclear whose calls these were.
  if (!at_ || at_->stretches.empty()) return at_.reset();
  if (at_->previous && at_->previous->at < at_->member.last_order) check_followed(*at_->previous);
  if (at_->swaps > 0) {
    findings_.add(Deviation::kSwapped, at_->member, at_->first_swap.call, at_->swaps, at_->is_first_early,
                  at_->first_swap.is_even);
  }
  if (at_->missing > 0) {
    findings_.add(Deviation::kMissing, at_->member, at_->first_missing.call, at_->missing, false, false);
  }
  at_.reset();
}

void MemberJudge::take_call(const Kept& kept) {
  if (at_->previous && at_->previous->at + 1 == kept.at) {
    if (at_->previous->call.place > kept.call.place) {
      const auto distance = [this](const Kept& call) { return std::abs(call.call.place - place_of(call.at)); };
      const bool is_early = distance(*at_->previous) >= distance(kept);
      add_swap(is_early ? *at_->previous : kept, is_early);
    }
  } else {
    if (at_->previous) check_followed(*at_->previous);
    if (kept.at > 0 && place_of(kept.at - 1) > kept.call.place) add_swap(kept, false);
  }
  at_->previous = kept;
}

void MemberJudge::check_followed(const Kept& call) {
  if (call.call.place > place_of(call.at + 1)) add_swap(call, true);
}

void MemberJudge::add_swap(const Kept& call, bool is_early) {
  if (at_->swaps++ > 0) return;
  at_->first_swap = call;
  at_->is_first_early = is_early;
}

void MemberJudge::take_absence(const Kept& kept) {
  const bool is_between = std::any_of(at_->stretches.begin(), at_->stretches.end(), [&kept](const Stretch& stretch) {
    return stretch.first < kept.at && kept.at < stretch.last;
  });
  if (is_between && at_->missing++ == 0) at_->first_missing = kept;
}

}  // namespace jaxprof::match
