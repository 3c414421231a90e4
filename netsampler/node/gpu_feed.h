// GPUs into the spool: what jaxprof-probe has sent since the last look. It reads at its own rate; here is only written
// down what it says, and in one line why it says nothing. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "netsampler/node/node_clock.h"
#include "netsampler/node/node_spool.h"
#include "netsampler/node/sources.h"

namespace jaxprof::netsampler {

class GpuFeed {
 public:
  // All pointers outlive the feed.
  GpuFeed(GpuSource* source, NodeClock* clock, NodeSpool* spool) : source_(source), clock_(clock), spool_(spool) {}

  void start();
  // Takes what has come. To be called more often than the probe reads.
  void poll();
  // The same once more; says so if nothing has come.
  void finish();

 private:
  void write_board(const GpuBoard& board);

  GpuSource* source_;
  NodeClock* clock_;
  NodeSpool* spool_;
  std::map<std::uint32_t, std::uint32_t> streams_;  // by board
  bool is_started_ = false;
  bool has_answer_ = false;  // values, or why there are none
};

}  // namespace jaxprof::netsampler
