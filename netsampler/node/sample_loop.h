// The observer's loop: sleeps until something is due, reads it, and once a second puts what was read into the spool.
// One thread does all of it, so that the node has one late thread at worst. A disk that keeps it waiting costs ticks,
// which are counted. It knows neither runs nor tasks: whether it is over, and whether other runs are observed on the
// node, others say.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "netsampler/node/clock_feed.h"
#include "netsampler/node/gpu_feed.h"
#include "netsampler/node/nic_feed.h"
#include "netsampler/node/node_clock.h"
#include "netsampler/node/node_spool.h"
#include "netsampler/node/sources.h"
#include "netsampler/node/tick_schedule.h"

namespace jaxprof::netsampler {

struct LoopParts {
  NodeClock* clock;
  NodeSpool* spool;
  NicSource* nics;                // null: not sampled
  GpuSource* gpus;                // null: not sampled
  ClockSource* clocks = nullptr;  // null: not read
};

struct LoopQuestions {
  std::function<bool()> is_over;    // asked ten times a second
  std::function<bool()> is_shared;  // asked once a second: another run is observed on the node
  // Asked ten times a second until it is so: GPUs are to be read.
  std::function<bool()> wants_gpus = [] { return true; };
};

class SampleLoop {
 public:
  // All of `parts` outlives the loop. `segment` and `is_shared` go into the spool's first record.
  SampleLoop(const LoopParts& parts, std::uint32_t segment, bool is_shared);

  // From the first sample to the footer.
  void run(const LoopQuestions& questions);

 private:
  void begin(const LoopQuestions& questions);
  void finish();
  void look_at_gpus(const LoopQuestions& questions);
  void look_at_neighbours(const LoopQuestions& questions);
  void do_chores(const LoopQuestions& questions);
  void write_observer();
  void write_ticks();

  LoopParts parts_;
  std::uint32_t segment_;
  bool is_shared_;
  bool is_over_ = false;
  bool has_gpus_ = false;  // they were wanted once
  std::uint64_t origin_ns_;
  NicFeed nics_;
  GpuFeed gpus_;
  ClockFeed clocks_;
  TickSchedule chores_;
  std::vector<DueTick> due_;
};

}  // namespace jaxprof::netsampler
