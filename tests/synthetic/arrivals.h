// When the members of a call come to it. One member is first by design and another last, by a hash of the call, so that
// who came last, and when all were there, follows without asking every member: a run of thousands of ranks is written
// one rank at a time. Late ranks are late on top. Faulty ranks, whose record of a call may be missing, are neither by
// design.
#pragma once

#include <cstdint>

#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

struct CallTruth {
  // Of the members in whose spools the call is, if it is in any: the rank that comes last, and when the first comes.
  std::uint32_t last = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;    // when all are there
  std::uint32_t recorded = 0;  // members in whose spools the call is
  std::uint32_t reporter = 0;  // the lowest of their ranks
  bool is_mismatch = false;    // members disagree about the size
};

class Arrivals {
 public:
  explicit Arrivals(const Run& run) : run_(run) {}
  // When `rank`, a member, comes to the slot's unit.
  std::int64_t arrival_ns(const Slot& slot, const Comm& comm, std::uint32_t rank) const;
  // `recorded` is 0 if the call is in no spool.
  CallTruth truth_of(const Slot& slot, const Comm& comm) const;

 private:
  std::uint32_t first_of(const Slot& slot, const Comm& comm) const;
  std::uint32_t last_of(const Slot& slot, const Comm& comm) const;
  void look_at_all(const Slot& slot, const Comm& comm, CallTruth* truth) const;
  std::uint32_t sound_from(const Comm& comm, std::uint64_t start, std::uint32_t but) const;

  const Run& run_;
};

}  // namespace jaxprof::synthetic
