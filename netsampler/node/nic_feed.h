// Ports into the spool: reads each at its own rate, and writes down what a rescan finds. Every stream begins and,
// unless the observer is killed, ends with a row of all columns, so that a counter's total is its last value less its
// first. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "netsampler/node/node_clock.h"
#include "netsampler/node/node_spool.h"
#include "netsampler/node/sources.h"
#include "netsampler/node/tick_schedule.h"

namespace jaxprof::netsampler {

class NicFeed {
 public:
  // Deadlines are whole periods after `origin_ns` of the clock's now_ns(). All pointers outlive the feed.
  NicFeed(NicSource* source, NodeClock* clock, NodeSpool* spool, std::uint64_t origin_ns);

  // Lists the ports, and reads those that are new, or whose columns are, once in full. To be called first.
  void rescan();
  bool wants_rescan() const { return source_->wants_rescan(); }
  std::uint64_t next_deadline_ns() const { return schedule_.next_deadline_ns(); }
  // Reads what is due now.
  void read_due();
  // Reads everything once more.
  void finish();

  const TickCounts& counts() const { return schedule_.counts(); }
  std::uint64_t read_ns() const { return read_ns_; }  // inside of readings, so far

 private:
  struct Fed {  // by port
    std::optional<std::uint32_t> stream;
    std::uint32_t column_set = 0;
    std::optional<PortInfo> written;  // as its last record tells it
  };

  void take_columns(std::size_t port, Fed* fed);
  void read(std::size_t port, bool fast_only, std::uint32_t flags);

  NicSource* source_;
  NodeClock* clock_;
  NodeSpool* spool_;
  TickSchedule schedule_;
  std::vector<Fed> fed_;
  std::vector<DueTick> due_;
  Reading reading_;
  std::uint64_t read_ns_ = 0;
};

}  // namespace jaxprof::netsampler
