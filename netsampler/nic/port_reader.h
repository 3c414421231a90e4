// Everything that it takes to read one port: which of its counters can be read where, in which columns they go, and
// the open files and numbers to read them with. The choice is made once, when the port is found or comes back, by
// trying; what cannot be had in a better way is said in words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netsampler/nic/column.h"
#include "netsampler/nic/counter_source.h"
#include "netsampler/nic/found_port.h"
#include "netsampler/nic/rdma_link.h"

namespace jaxprof::netsampler {

struct DroppedCounter {
  std::string name;
  std::string why;
};

struct PortReader {
  std::vector<Column> columns;  // fast ones first, in each part by name
  std::size_t fast_count = 0;
  spool::NicSource source = spool::NicSource::kNone;
  std::string driver;             // as found, or recognized by the counters
  std::string reason;             // "" if nothing could be better
  std::uint64_t lifespan_ns = 0;  // of what is read in sysfs' hw_counters
  std::vector<DroppedCounter> dropped;
  std::vector<std::unique_ptr<CounterSource>> sources;

  // Reads the first `values.size()` columns; what cannot be read is kMissingSample.
  ReadOutcome read(std::span<std::uint64_t> values);
};

// `wanted` as in NicSettings. `rdma_error` is that of Discovery: why there is no netlink at all. `link` outlives the
// reader.
PortReader open_port(const FoundPort& port, spool::NicSource wanted, RdmaLink* link, int rdma_error);

}  // namespace jaxprof::netsampler
