#include "agent/nvtx/steps.h"

#include "agent/contract/step_marker.h"

namespace jaxprof::nvtx {
namespace {

std::atomic<std::uint64_t> process_step_count{0};

std::uint64_t next_ordinal(collect::ThreadSink* sink) noexcept {
  // XLA launches each device's modules from one thread: its count is the device's.
  if (collect::step_marker().kind == StepMarkerKind::kXlaModule) return sink->step_count++;
  return process_step_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t begin_pushed_step(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept {
  if (sink->pushed_step != collect::kNoPlace) return 0;
  sink->pushed_step = collect::range_place(domain, depth);
  return 1 + next_ordinal(sink);
}

std::uint64_t begin_started_step(collect::ThreadSink* sink) noexcept {
  return sink->pushed_step == collect::kNoPlace ? 1 + next_ordinal(sink) : 0;
}

}  // namespace jaxprof::nvtx
