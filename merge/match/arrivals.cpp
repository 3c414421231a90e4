#include "merge/match/arrivals.h"

#include <cmath>
#include <limits>

namespace jaxprof::match {
namespace {

// A difference of less is what clocks may show of members that came at once.
constexpr double kSigmas = 3;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ArrivalError Arrivals::weigh(std::span<const CallRecord> members, const FirstAndLast& on_gpu,
                             const FirstAndLast& on_host) {
  nodes_.clear();
  for (const CallRecord& member : members) {
    const std::uint32_t node = node_[member.process];
    if (nodes_.empty() || nodes_.back() != node) nodes_.push_back(node);
  }
  if (nodes_.size() < 2) return {};
  const bool has_gpu_times = on_gpu.first != nullptr;
  const auto time_ns = has_gpu_times ? &CallRecord::gpu_start_ns : &CallRecord::enqueue_ns;
  const FirstAndLast& found = has_gpu_times ? on_gpu : on_host;
  const std::int64_t last_ns = found.last != nullptr ? found.last->*time_ns : runfile::kNoTime;
  ArrivalError arrival;
  arrival.error = clocks_ != nullptr ? clocks_->between(nodes_, last_ns) : SpreadError{kUnknown, kUnknown};
  const SpreadError& error = arrival.error;
  if (!error.is_known()) {
    arrival.flags = runfile::kInstanceUnresolved;
  } else if (found.last != nullptr) {
    const auto spread_ns = static_cast<double>(last_ns - found.first->*time_ns);
    // Without a sigma, only the bound can tell.
    const bool is_resolved = !std::isnan(error.sigma_ns) && spread_ns > kSigmas * error.sigma_ns;
    if (spread_ns > error.bound_ns) {
      arrival.flags = runfile::kInstanceCertain;
    } else if (!is_resolved) {
      arrival.flags = runfile::kInstanceUnresolved;
    }
  }
  return arrival;
}

FirstAndLast first_and_last(std::span<const CallRecord> members, std::int64_t CallRecord::*time_ns) {
  FirstAndLast found{&members.front(), &members.front()};
  for (const CallRecord& member : members) {
    if (member.*time_ns < 0) return {};
    if (member.*time_ns < found.first->*time_ns) found.first = &member;
    if (member.*time_ns >= found.last->*time_ns) found.last = &member;
  }
  return found;
}

}  // namespace jaxprof::match
