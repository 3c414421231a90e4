// A port and its columns as the records of a node's spool. Texts become numbers on the way; nothing else happens here.
#pragma once

#include <cstdint>

#include "netsampler/nic/port.h"
#include "netsampler/node/node_spool.h"

namespace jaxprof::netsampler {

// `nic` is the port's number; `stamp` is of CLOCK_MONOTONIC_RAW, as all stamps of the spool.
void write_port(std::uint32_t nic, const PortInfo& info, std::uint64_t stamp, NodeSpool* spool);

void write_change(const Change& change, std::uint64_t stamp, NodeSpool* spool);

// Opens a stream with the port's columns, registers it, and returns its number.
std::uint32_t open_port_stream(std::uint32_t nic, const Port& port, NodeSpool* spool);

}  // namespace jaxprof::netsampler
