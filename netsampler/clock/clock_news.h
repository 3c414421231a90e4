// What the clock service has to tell, from its thread to whoever writes the node's spool. Texts are whole here; the
// spool gives them numbers. Stamps are CLOCK_MONOTONIC_RAW in ns; what the other fields mean clock_record.h says of the
// records that they become.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "agent/spool/clock_codec.h"
#include "agent/spool/clock_record.h"

namespace jaxprof::netsampler {

// spool::ClockServiceState
struct ServiceNews {
  std::uint16_t port = 0;
  std::uint32_t stamps = 0;
  bool is_reference = false;
  std::string address;
  std::string interface;
  std::string clocksource;
  std::string reason;
  std::uint64_t network_namespace = 0;
  std::uint64_t stamp = 0;
  bool operator==(const ServiceNews&) const = default;
};

// spool::ClockPeerState
struct PeerNews {
  std::uint32_t peer = 0;
  bool is_reference = false;
  std::string host;
  std::string boot_id;
  std::string address;
  std::uint16_t port = 0;
  std::uint64_t network_namespace = 0;
  std::uint64_t stamp = 0;
  bool operator==(const PeerNews&) const = default;
};

// spool::NodeNote::kClockTrouble
struct ClockNote {
  std::string text;
  std::uint64_t stamp = 0;
};

using ClockNews = std::variant<spool::ClockReading, spool::ProbeBurst, ServiceNews, PeerNews, ClockNote,
                               spool::ClockDisciplineState, spool::ClockPacketsState>;

}  // namespace jaxprof::netsampler
