// Who of an instance's members came first and who last, and whether the clocks of their nodes can tell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/match/call_record.h"
#include "merge/match/clock_errors.h"

namespace jaxprof::match {

// The members with the least and the greatest time, of equal ones the first and the last; null unless all have one.
struct FirstAndLast {
  const CallRecord* first = nullptr;
  const CallRecord* last = nullptr;
};
FirstAndLast first_and_last(std::span<const CallRecord> members, std::int64_t CallRecord::*time_ns);

inline std::int64_t gpu_end_ns(const CallRecord& call) {
  return call.gpu_start_ns + call.gpu_dur_ns;
}

// What the difference between first and last is worth.
struct ArrivalError {
  SpreadError error;
  std::uint16_t flags = 0;  // kInstanceUnresolved, kInstanceCertain
};

class Arrivals {
 public:
  // `node` by process. `clocks` may be null: nothing is known of them. Both are borrowed.
  Arrivals(const std::vector<std::uint32_t>& node, const ClockErrors* clocks) : node_(node), clocks_(clocks) {}

  // `on_gpu` and `on_host` are the first and last of `members` by gpu_start_ns and enqueue_ns; what GPUs tell counts.
  ArrivalError weigh(std::span<const CallRecord> members, const FirstAndLast& on_gpu, const FirstAndLast& on_host);

 private:
  const std::vector<std::uint32_t>& node_;
  const ClockErrors* clocks_;
  std::vector<std::uint32_t> nodes_;  // of the members at hand
};

}  // namespace jaxprof::match
