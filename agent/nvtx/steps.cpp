#include "agent/nvtx/steps.h"

#include "agent/contract/step_marker.h"

namespace jaxprof::nvtx {

namespace detail {
std::atomic<bool> step_domains[collect::kMaxDomains];
}  // namespace detail

namespace {

std::atomic<std::uint64_t> process_step_count{0};

bool is_inside_step(const collect::ThreadSink* sink) noexcept {
  return sink->pushed_step != collect::kNoPlace || sink->started_step.load(std::memory_order_relaxed) != 0;
}

std::uint64_t next_ordinal(collect::ThreadSink* sink) noexcept {
  // XLA launches each device's modules from one thread: its count is the device's.
  if (collect::step_marker().kind == StepMarkerKind::kXlaModule) return sink->step_count++;
  return process_step_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void note_step_domain(std::uint16_t domain, std::string_view name) noexcept {
  if (is_step_domain(collect::step_marker(), name)) detail::step_domains[domain].store(true, std::memory_order_relaxed);
}

std::uint64_t begin_pushed_step(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept {
  if (is_inside_step(sink)) return 0;
  sink->pushed_step = collect::range_place(domain, depth);
  return 1 + next_ordinal(sink);
}

std::uint64_t begin_started_step(collect::ThreadSink* sink, std::uint64_t range) noexcept {
  if (is_inside_step(sink)) return 0;
  sink->started_step.store(range, std::memory_order_relaxed);
  return 1 + next_ordinal(sink);
}

void end_started_step(std::uint64_t range) noexcept {
  collect::ThreadSink* sink = collect::sink_of_thread(static_cast<std::uint32_t>(range >> collect::kRangeThreadShift));
  // Another id there is another step's, of a thread that has taken over the ring.
  if (sink != nullptr) sink->started_step.compare_exchange_strong(range, 0, std::memory_order_relaxed);
}

}  // namespace jaxprof::nvtx
