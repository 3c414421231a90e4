// What this node could do for the comparison of clocks, found out before a job runs: where others would reach it, which
// stamps its kernel gives packets, what it keeps time with, and whether the wall clock has a bound. For people, not for
// a spool; no other node is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "netsampler/clock/probe_sockets.h"

namespace jaxprof::netsampler {

struct ClockFindings {
  std::string interface;
  std::string address;  // an IP literal
  std::uint16_t port = 0;
  std::uint32_t stamps = 0;    // spool::StampKind, by packets to itself
  bool hears_itself = false;   // those came back; else `stamps` tells nothing
  std::string clocksource;     // "" unknown
  bool is_wall_known = false;  // the kernel tells about the wall clock; a container may forbid to ask
  bool is_wall_synchronised = false;
  std::int64_t wall_bound_ns = 0;  // of a synchronised one
  std::string reason;              // why other nodes' clocks cannot be asked; "" if they can
  std::string remark;              // of the choice of the interface; own_interface.h
};

// `interface` "" and `ports` as of ProbingSettings. Takes up to 50 ms; the socket is closed again.
ClockFindings find_clock(const std::string& interface, const PortRange& ports);

}  // namespace jaxprof::netsampler
