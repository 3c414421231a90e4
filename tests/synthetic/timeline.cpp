#include "tests/synthetic/timeline.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kFirstSlotNs = 2'000'000'000;
constexpr std::uint64_t kMostKernels = 256;  // of a slot
constexpr std::uint64_t kMostRanges = 64;
constexpr std::int64_t kShortestSlotNs = 20'000;
constexpr std::int64_t kRangeNs = 1'000;
constexpr std::int64_t kAfterNs = 6'000;  // from the end of a slot to the next one

// What slot `index` of `count` has of `total`.
std::uint64_t share(std::uint64_t total, std::uint64_t index, std::uint64_t count) {
  return total * (index + 1) / count - total * index / count;
}

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace

TimelineSize size_of(const RunPlan& plan) {
  TimelineSize size;
  UnitSequence units(plan);
  for (Unit unit; units.next(&unit);) ++size.units;
  size.steps = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan.steps, plan.ranges_of_rank()));
  size.slots = std::max({size.units, divide_up(plan.kernels_of_rank(), kMostKernels),
                         divide_up(plan.ranges_of_rank(), kMostRanges), std::uint64_t{size.steps}, std::uint64_t{1}});
  return size;
}

Timeline::Timeline(const RunPlan& plan, const TimelineSize& size, const KernelMix& mix, std::int64_t latest_ns)
    : plan_(plan),
      size_(size),
      mix_(mix),
      latest_ns_(latest_ns),
      units_(plan),
      random_(test::mix(plan.seed, 0x71e)),
      now_ns_(kFirstSlotNs) {}

void Timeline::add_kernels(std::uint64_t count, Slot* slot) {
  slot->kernels.clear();
  std::int64_t free_ns[kComputeStreams];  // when each stream is
  std::fill(std::begin(free_ns), std::end(free_ns), slot->start_ns);
  for (std::uint64_t i = 0; i < count; ++i) {
    SlotKernel at;
    at.kernel = mix_.at(kernel_index_++, &random_);
    const std::uint64_t bits = random_.next();
    // Most follow one another on the first stream; some run beside it.
    if (bits % 8 == 0) at.stream = static_cast<std::uint8_t>(1 + (bits >> 8) % (kComputeStreams - 1));
    const bool is_gap_long = (bits >> 16) % 64 == 0;
    const auto gap_ns =
        static_cast<std::int64_t>((is_gap_long ? 20'000 : 1'000) + (bits >> 32) % (is_gap_long ? 60'000 : 1'500));
    const std::int64_t now_ns = at.stream == 0 ? free_ns[0] : std::max(free_ns[0], free_ns[at.stream]);
    at.start_ns = now_ns + gap_ns;
    free_ns[at.stream] = at.start_ns + at.kernel.length_ns;
    // Beside the first stream, but in the order of starts.
    if (at.stream != 0) free_ns[0] = std::max(free_ns[0], at.start_ns);
    slot->kernels.push_back(at);
  }
  slot->ready_ns = *std::max_element(std::begin(free_ns), std::end(free_ns));
}

bool Timeline::next(Slot* slot) {
  if (index_ == size_.slots) return false;
  slot->index = index_;
  const std::uint64_t steps = std::max(1U, size_.steps);
  slot->step = static_cast<std::uint32_t>(index_ * steps / size_.slots);
  slot->begins_step = index_ == 0 || (index_ - 1) * steps / size_.slots != slot->step;
  slot->ends_step = (index_ + 1) * steps / size_.slots != slot->step;
  slot->start_ns = now_ns_;
  slot->ranges = static_cast<std::uint32_t>(share(plan_.ranges_of_rank() - size_.steps, index_, size_.slots));
  add_kernels(share(plan_.kernels_of_rank(), index_, size_.slots), slot);
  slot->ready_ns = std::max(slot->ready_ns, slot->start_ns + kShortestSlotNs + slot->ranges * kRangeNs);
  slot->unit.reset();
  now_ns_ = slot->ready_ns + latest_ns_ + kAfterNs;
  if (share(size_.units, index_, size_.slots) > 0) {
    Unit unit;
    units_.next(&unit);
    slot->unit = unit;
    slot->unit_index = unit_index_++;
    now_ns_ += kJitterNs + unit.transfer_ns();
  }
  ++index_;
  return true;
}

}  // namespace jaxprof::synthetic
