// What the observer of a node registers about its clocks and about the nodes whose clocks it compared with its own:
// state records like those of node_record.h. The comparisons themselves, and dense readings of the own clocks, are
// blocks of kind clock (clock_codec.h). Only raw stamps are stored; what they mean the merge computes. Stamps are
// CLOCK_MONOTONIC_RAW of the observer in ns.
#pragma once

#include <cstdint>

#include "agent/spool/state_record.h"

namespace jaxprof::spool {

// Bits of ClockServiceState::stamps: which stamps of packets the kernel gives (SO_TIMESTAMPING, software).
enum StampKind : std::uint32_t {
  kStampReceive = 1U << 0,
  kStampSend = 1U << 1,
};

// How the node takes part. Written when the service starts, and again when it ends, changes or gives up.
struct ClockServiceState {
  StateHeader header;
  std::uint32_t port;          // UDP; 0: no socket, `reason` says why
  std::uint32_t stamps;        // StampKind
  std::uint32_t is_reference;  // 1: rank 0 of the run is on this node
  StringId address;            // as others reach it: an IP literal
  StringId interface;          // eth0
  StringId clocksource;        // as the kernel has it at `stamp`: tsc
  StringId reason;             // why there are no probes, or only some; none if there are
  std::uint32_t reserved;
  std::uint64_t network_namespace;  // inode
  std::uint64_t stamp;
};

// Another node of the run. A peer that comes back with another address is registered anew under the same number.
struct ClockPeerState {
  StateHeader header;
  std::uint32_t peer;  // the number that bursts carry, from 0
  std::uint32_t is_reference;
  StringId host;
  StringId boot_id;
  StringId address;  // an IP literal
  std::uint32_t port;
  std::uint64_t network_namespace;
  std::uint64_t stamp;
};

// What the kernel says about CLOCK_REALTIME (adjtimex(2)): at the start, whenever the status changes, every 10 s.
struct ClockDisciplineState {
  StateHeader header;
  std::uint32_t status;        // STA_…
  std::int32_t tai_offset_s;   // TAI - UTC; 0 unknown
  std::int64_t frequency_ppb;  // by how much the kernel speeds the clock up
  std::int64_t offset_ns;      // what it still has to slew
  std::int64_t max_error_ns;   // its bound; means something only without STA_UNSYNC
  std::int64_t estimated_error_ns;
  std::uint64_t stamp;
};

// Packets, counted from the service's start; every 10 s and at the end.
struct ClockPacketsState {
  StateHeader header;
  std::uint64_t sent;
  std::uint64_t received;
  std::uint64_t wrong_size;
  std::uint64_t wrong_mac;   // or magic, version, type
  std::uint64_t wrong_node;  // rightly made, for another node or run, or from a node that is not known
  std::uint64_t replayed;    // seen before, or too old
  std::uint64_t rate_limited;
  std::uint64_t unpaired;  // a stamp or reply that belongs to no packet of ours
  std::uint64_t send_failed;
  std::uint64_t cpu_ns;  // of the service's thread
  std::uint64_t stamp;
};

static_assert(sizeof(ClockServiceState) == 56);
static_assert(sizeof(ClockPeerState) == 48);
static_assert(sizeof(ClockDisciplineState) == 56);
static_assert(sizeof(ClockPacketsState) == 96);

}  // namespace jaxprof::spool
