// What CallOrder keeps of members that go against the order of their communicator, and the judgement on it: which calls
// are missing between others, and where a member swapped calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "merge/match/call_order.h"
#include "merge/match/call_record.h"

namespace jaxprof::match {

// A call as a finding names it.
struct PlacedCall {
  std::int64_t place = 0;
  std::uint64_t seq = 0;
  std::int64_t time_ns = runfile::kNoTime;
  runfile::Coll coll = runfile::Coll::kMissing;
};

// The places between a member's first and last call while its window was open once.
struct Stretch {
  std::size_t opening = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

enum class KeptKind : std::uint8_t { kStretch, kCall, kAbsence };

// What is kept of a member. `at` is what its records are sorted by: the first place of a stretch, the order of a call,
// the place of an absence.
struct Kept {
  std::uint32_t comm = 0;
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  KeptKind kind = KeptKind::kCall;
  bool is_even = false;
  std::int64_t at = 0;
  std::int64_t base = 0;        // of the member; stretch
  std::int64_t last_order = 0;  // of the member; stretch
  PlacedCall call;              // of a stretch, `place` is its last
};
struct KeptOrder {
  static auto key(const Kept& kept) { return std::tie(kept.comm, kept.rank, kept.process, kept.kind, kept.at); }
  bool operator()(const Kept& a, const Kept& b) const { return key(a) < key(b); }
};

// Gathers what is to be said of each process.
class CallFindings {
 public:
  // Adds `count` calls of a member on one communicator.
  void add(Deviation what, const Kept& member, const PlacedCall& call, std::uint64_t count, bool is_early,
           bool is_even);

  // By process, then by deviation.
  std::vector<CallFinding> all() const;

 private:
  std::map<std::pair<std::uint32_t, Deviation>, CallFinding> found_;
};

// What has been seen of one member.
struct Judged {
  Kept member;  // its first record
  std::vector<Stretch> stretches;
  std::optional<Kept> previous;  // call
  std::uint64_t swaps = 0;
  Kept first_swap;
  bool is_first_early = false;
  std::uint64_t missing = 0;
  Kept first_missing;
};

// Judges what was kept, member by member, in the order of KeptOrder.
class MemberJudge {
 public:
  explicit MemberJudge(CallFindings* findings) : findings_(*findings) {}

  void take(const Kept& kept);
  // After the last of all.
  void finish();

 private:
  // Of a call that was not kept.
  std::int64_t place_of(std::int64_t order) const { return order - at_->member.base; }
  void take_call(const Kept& kept);
  // Against the call behind it, which was not kept.
  void check_followed(const Kept& call);
  void add_swap(const Kept& call, bool is_early);
  void take_absence(const Kept& kept);

  CallFindings& findings_;
  std::optional<Judged> at_;
};

}  // namespace jaxprof::match
