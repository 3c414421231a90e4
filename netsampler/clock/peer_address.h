// An IP address and a UDP port: where a node's clock can be asked. Read from literals only: jaxprof-netsampler is a
// static program and knows no name service. A v4 address is kept as one of v6 (::ffff:10.0.0.1), so that one socket
// sends to both.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jaxprof::netsampler {

struct PeerAddress {
  std::array<std::uint8_t, 16> bytes{};  // network order; all zero: any address
  std::uint16_t port = 0;
  std::uint32_t scope = 0;  // interface number of a link-local v6 address, else 0

  bool is_v4() const;
  bool is_any() const;
  // "10.0.0.1", "fe80::1%2"; without the port.
  std::string literal() const;
  sockaddr_in6 to_socket_address() const;
  static PeerAddress from_socket_address(const sockaddr_in6& address);
  bool operator==(const PeerAddress&) const = default;
};

// Nothing if `literal` is not an address. A scope is a number or the name of an interface of this node: "fe80::1%eth0".
std::optional<PeerAddress> parse_address(std::string_view literal, std::uint16_t port);

}  // namespace jaxprof::netsampler
