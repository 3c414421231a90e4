// Where the clock of a node can be asked: a small text that each observer of a run leaves for the others, in a folder
// that all nodes see. What is read there was written by somebody else, on another machine and maybe by another version:
// so the reader takes every field by its name and in its place, whole or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "netsampler/clock/peer_address.h"

namespace jaxprof::netsampler {

struct ClockEndpoint {
  std::string host;                     // as a file name
  std::string boot_id;                  // names the node
  std::uint64_t network_namespace = 0;  // inode
  std::uint64_t nonce = 0;              // another for each observer
  PeerAddress address;                  // with the port of the server; global, or of the node itself
  std::string interface;                // of that address: eth0
  std::string clocksource;              // "" unknown
  std::uint32_t stamps = 0;             // spool::StampKind that were known when it was written
  std::int64_t start_ns = 0;            // CLOCK_REALTIME when the observer began: of two on one node the later counts

  bool operator==(const ClockEndpoint&) const = default;
};

inline constexpr std::size_t kEndpointBytes = 2048;  // no text is longer

// At most kEndpointBytes. Characters that do not belong into a word become '_'.
std::string to_text(const ClockEndpoint& endpoint);

// Nothing if `text` is not what to_text() makes of some endpoint that others can send to.
std::optional<ClockEndpoint> parse_endpoint(std::string_view text);

}  // namespace jaxprof::netsampler
