#include "netsampler/clock/peer_address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>

#include "agent/base/parse_number.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// 0 if there is no such interface.
std::uint32_t parse_scope(const std::string& text) {
  if (const auto number = parse_uint64(text); number && *number <= UINT32_MAX) {
    return static_cast<std::uint32_t>(*number);
  }
  return if_nametoindex(text.c_str());
}

}  // namespace

bool PeerAddress::is_v4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
}

bool PeerAddress::is_any() const {
  const auto* const first = is_v4() ? bytes.begin() + kMappedPrefix.size() : bytes.begin();
  return std::all_of(first, bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::string PeerAddress::literal() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_v4()) {
    inet_ntop(AF_INET, bytes.data() + kMappedPrefix.size(), text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  }
  return scope == 0 ? std::string(text.data()) : std::string(text.data()) + "%" + std::to_string(scope);
}

sockaddr_in6 PeerAddress::to_socket_address() const {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  std::memcpy(&address.sin6_addr, bytes.data(), bytes.size());
  address.sin6_scope_id = scope;
  return address;
}

PeerAddress PeerAddress::from_socket_address(const sockaddr_in6& address) {
  PeerAddress peer;
  std::memcpy(peer.bytes.data(), &address.sin6_addr, peer.bytes.size());
  peer.port = ntohs(address.sin6_port);
  peer.scope = address.sin6_scope_id;
  return peer;
}

std::optional<PeerAddress> parse_address(std::string_view literal, std::uint16_t port) {
  PeerAddress peer;
  peer.port = port;
  const std::size_t percent = literal.find('%');
  const std::string address(literal.substr(0, percent));
  if (address.size() >= INET6_ADDRSTRLEN || address.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET, address.c_str(), peer.bytes.data() + kMappedPrefix.size()) == 1) {
    if (percent != std::string_view::npos) return std::nullopt;
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), peer.bytes.begin());
    return peer;
  }
  if (inet_pton(AF_INET6, address.c_str(), peer.bytes.data()) != 1) return std::nullopt;
  if (percent == std::string_view::npos) return peer;
  peer.scope = parse_scope(std::string(literal.substr(percent + 1)));
  if (peer.scope == 0) return std::nullopt;
  return peer;
}

}  // namespace jaxprof::netsampler
