// A port of a network card as the sampler sees it now, and what happened to it. A port keeps its number, its place in
// NicSampler::ports(), for the whole run: through renames, losses and returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"
#include "netsampler/nic/column.h"

namespace jaxprof::netsampler {

// Texts are empty where the system does not say.
struct PortInfo {
  std::string name;    // as the system calls the card now: rdmap0s6, mlx5_0, eth0
  std::string driver;  // efa, mlx5_core, rdma_rxe, …
  std::string pci;     // 0000:00:06.0
  std::string guid;    // node_guid; of a network interface its hardware address
  std::string netdev;  // the port's network interface
  std::string reason;  // why its counters are not read in a better way
  int numa = -1;
  unsigned port = 0;  // of the card, from 1; 0: a network interface
  spool::NicSource source = spool::NicSource::kNone;
  std::uint64_t bits_per_s = 0;
  std::uint64_t lifespan_ns = 0;     // how old a value may be that the kernel keeps for sysfs; 0: it is read anew
  std::uint64_t period_ns = 0;       // of rows with the fast columns; 0: not sampled
  std::uint64_t slow_period_ns = 0;  // of rows with all columns; equal to period_ns if no column is fast
  bool is_active = false;            // the link is up

  bool operator==(const PortInfo&) const = default;
};

struct Port {
  PortInfo info;
  std::vector<Column> columns;   // fast ones first
  std::size_t fast_count = 0;    // of them
  std::uint32_t column_set = 0;  // counts up when `columns` become others: then rows belong to another stream
  bool is_present = false;       // false from its loss to its return
};

struct Change {
  std::size_t port = 0;  // its number
  spool::NicEvent event = spool::NicEvent::kAppeared;
  std::string text;  // the name before, the counter and why it was dropped, …
};

struct NicNote {
  spool::NodeNote note = spool::NodeNote::kNoNic;
  std::string text;

  bool operator==(const NicNote&) const = default;
};

// One reading of a port's counters.
struct Reading {
  bool is_ok = false;                 // false: nothing could be read, and nothing else here means anything
  std::uint32_t flags = 0;            // SampleFlag, against the reading before
  std::vector<std::uint64_t> values;  // raw, by column; kMissingSample where one could not be read
  std::uint64_t begin_ns = 0;         // CLOCK_MONOTONIC_RAW, before and after
  std::uint64_t end_ns = 0;
};

}  // namespace jaxprof::netsampler
