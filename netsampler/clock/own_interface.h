// Which of a node's addresses others shall send to. A node has many: of loopback, of containers, of cards for storage.
// Taken is the interface of the default route, or the one that NCCL was told to use for its sockets, which is reachable
// from the run's other nodes by what the job itself needs. Choosing is a function of values; only find_own_interface()
// asks the system. Loopback addresses reach no other node, and are taken only if a test wants them by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "netsampler/clock/peer_address.h"

namespace jaxprof::netsampler {

struct InterfaceAddress {
  std::string interface;
  PeerAddress address;  // without a port
  bool is_up = false;
  bool is_loopback = false;
};

struct OwnInterface {
  std::string name;
  PeerAddress address;  // without a port; v4 where there is one, else a global v6
  std::string remark;   // why it is not what NCCL_SOCKET_IFNAME names; "" if it is, or that names none
  bool operator==(const OwnInterface&) const = default;
};

// What the choice depends on.
struct InterfaceFacts {
  std::vector<InterfaceAddress> addresses;
  std::string default_route;  // the interface of the default route; "" there is none
  std::string wanted;         // by name, "" any: a wish that must hold
  std::string nccl;           // NCCL_SOCKET_IFNAME: a wish that may fail; nccl_names.h
};

// kNodeNotReady if there is no interface with an address that others can send to, or `wanted` is none.
Result<OwnInterface> choose_interface(const InterfaceFacts& facts);

// The interface of the default route with the lowest metric, from the text of /proc/net/route or /proc/net/ipv6_route;
// "" if there is none.
std::string default_route_v4(std::string_view text);
std::string default_route_v6(std::string_view text);

// The same, of this node and network namespace. `wanted` as above; NCCL_SOCKET_IFNAME of the own environment.
Result<OwnInterface> find_own_interface(const std::string& wanted);

}  // namespace jaxprof::netsampler
