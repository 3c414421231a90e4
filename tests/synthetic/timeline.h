// The course of a synthetic run, slot by slot, the same on all ranks: kernels, then a unit of NCCL calls that all of
// its members have to come to. A slot begins when the one before has ended everywhere, the latest rank included, so
// that every rank can be written alone: nothing that another does moves it.
//
// Times are ns since the run's zero, of a perfect clock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/simulator/sim_random.h"
#include "tests/synthetic/kernel_mix.h"
#include "tests/synthetic/units.h"

namespace jaxprof::synthetic {

inline constexpr std::uint8_t kComputeStreams = 3;
// Members come to a call within this, if none is late.
inline constexpr std::int64_t kJitterNs = 20'000;

struct SlotKernel {
  MixedKernel kernel;
  std::uint8_t stream = 0;
  std::int64_t start_ns = 0;
};

struct Slot {
  std::uint64_t index = 0;
  std::uint32_t step = 0;
  bool begins_step = false;
  bool ends_step = false;
  std::int64_t start_ns = 0;
  std::int64_t ready_ns = 0;  // its kernels are over, and the first member comes to the unit
  std::uint32_t ranges = 0;
  std::vector<SlotKernel> kernels;  // by start
  std::optional<Unit> unit;
  std::uint64_t unit_index = 0;
};

// How many of each there are; the same for all ranks.
struct TimelineSize {
  std::uint64_t units = 0;
  std::uint64_t slots = 0;
  std::uint32_t steps = 0;  // 0: the program marks none
};
TimelineSize size_of(const RunPlan& plan);

class Timeline {
 public:
  // `mix` is borrowed. `latest_ns`: how late the latest rank is.
  Timeline(const RunPlan& plan, const TimelineSize& size, const KernelMix& mix, std::int64_t latest_ns);
  // The next slot, in place of what `slot` held; false behind the last one.
  bool next(Slot* slot);
  std::int64_t end_ns() const { return now_ns_; }

 private:
  void add_kernels(std::uint64_t count, Slot* slot);

  const RunPlan& plan_;
  const TimelineSize size_;
  const KernelMix& mix_;
  const std::int64_t latest_ns_;
  UnitSequence units_;
  test::SimRandom random_;
  std::uint64_t index_ = 0;
  std::uint64_t unit_index_ = 0;
  std::uint64_t kernel_index_ = 0;
  std::int64_t now_ns_;
};

}  // namespace jaxprof::synthetic
