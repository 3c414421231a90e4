// Clocks into the spool: what the clock service has told since the last look, in its order, so that a peer is
// registered before the bursts that name it. One thread, which is not the service's.
#pragma once

#include "netsampler/node/node_clock.h"
#include "netsampler/node/node_spool.h"
#include "netsampler/node/sources.h"

namespace jaxprof::netsampler {

class ClockFeed {
 public:
  // All pointers outlive the feed.
  ClockFeed(ClockSource* source, NodeClock* clock, NodeSpool* spool) : source_(source), clock_(clock), spool_(spool) {}

  void start() { source_->start(); }
  // Writes down what has come. Never waits.
  void take();
  // The end is near: what the service has to do last may begin.
  void request_end() { source_->request_end(); }
  // Waits for that, and takes it.
  void finish();

 private:
  void write(const ServiceNews& news);
  void write(const PeerNews& news);

  ClockSource* source_;
  NodeClock* clock_;
  NodeSpool* spool_;
};

}  // namespace jaxprof::netsampler
