#include "netsampler/clock/own_interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>

#include "agent/base/atomic_file.h"
#include "netsampler/clock/nccl_names.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::size_t kMostRouteBytes = 16 << 20;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// The interface of the best line; `metric_of` has the metric of a default route, and nothing of any other line.
using MetricOf = std::function<std::optional<unsigned long>(const std::vector<std::string>&)>;

std::string best_route(std::string_view text, std::size_t interface_column, const MetricOf& metric_of) {
  std::istringstream lines{std::string(text)};
  std::string best;
  unsigned long best_metric = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    if (words.size() <= interface_column) continue;
    const auto metric = metric_of(words);
    if (!metric || (!best.empty() && best_metric <= *metric)) continue;
    best = words[interface_column];
    best_metric = *metric;
  }
  return best;
}

bool is_link_local(const PeerAddress& address) {
  if (address.is_v4()) return address.bytes[12] == 169 && address.bytes[13] == 254;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

bool is_loopback(const PeerAddress& address) {
  if (address.is_v4()) return address.bytes[12] == 127;
  return std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; }) &&
         address.bytes.back() == 1;
}

// The best address of the first interface that is meant.
using IsMeant = std::function<bool(const InterfaceAddress&)>;

std::optional<OwnInterface> find_address(const InterfaceFacts& facts, const IsMeant& is_meant) {
  std::optional<OwnInterface> found;
  for (const InterfaceAddress& entry : facts.addresses) {
    if (!entry.is_up || is_link_local(entry.address) || !is_meant(entry)) continue;
    if (found && (found->name != entry.interface || found->address.is_v4() || !entry.address.is_v4())) continue;
    found = OwnInterface{entry.interface, entry.address, ""};
  }
  return found;
}

std::optional<OwnInterface> find_wanted(const InterfaceFacts& facts) {
  return find_address(facts, [&](const InterfaceAddress& entry) { return entry.interface == facts.wanted; });
}

// One that NCCL names in full comes before those of which it names the beginning.
std::optional<OwnInterface> find_nccl_interface(const InterfaceFacts& facts, const NcclNames& nccl) {
  if (nccl.is_empty() || nccl.is_exclusion()) return std::nullopt;
  const auto is_of_others = [](const InterfaceAddress& entry) { return !is_loopback(entry.address); };
  auto found =
      find_address(facts, [&](const auto& entry) { return is_of_others(entry) && nccl.names(entry.interface); });
  if (found) return found;
  return find_address(facts, [&](const auto& entry) { return is_of_others(entry) && nccl.admits(entry.interface); });
}

// That of the default route, else the first; of those that `nccl` admits.
std::optional<OwnInterface> find_any(const InterfaceFacts& facts, const NcclNames& nccl) {
  const auto is_admitted = [&nccl](const InterfaceAddress& entry) {
    return !is_loopback(entry.address) && (!nccl.is_exclusion() || nccl.admits(entry.interface));
  };
  auto found = find_address(
      facts, [&](const auto& entry) { return is_admitted(entry) && entry.interface == facts.default_route; });
  if (found) return found;
  return find_address(facts, [&](const auto& entry) { return is_admitted(entry) && !entry.is_loopback; });
}

InterfaceAddress describe(const ifaddrs& entry) {
  InterfaceAddress found;
  found.interface = entry.ifa_name;
  found.is_up = (entry.ifa_flags & IFF_UP) != 0;
  found.is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  if (entry.ifa_addr->sa_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, entry.ifa_addr, sizeof address);
    found.address.bytes[10] = found.address.bytes[11] = 0xff;
    std::memcpy(&found.address.bytes[12], &address.sin_addr, 4);
  } else {
    sockaddr_in6 address{};
    std::memcpy(&address, entry.ifa_addr, sizeof address);
    std::memcpy(found.address.bytes.data(), &address.sin6_addr, found.address.bytes.size());
  }
  return found;
}

std::vector<InterfaceAddress> list_addresses() {
  std::vector<InterfaceAddress> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (entry->ifa_addr->sa_family != AF_INET && entry->ifa_addr->sa_family != AF_INET6) continue;
    found.push_back(describe(*entry));
  }
  freeifaddrs(list);
  return found;
}

std::string read_default_route() {
  const auto v4 = read_small_file("/proc/net/route", kMostRouteBytes);
  if (std::string name = v4 ? default_route_v4(*v4) : std::string(); !name.empty()) return name;
  const auto v6 = read_small_file("/proc/net/ipv6_route", kMostRouteBytes);
  return v6 ? default_route_v6(*v6) : std::string();
}

}  // namespace

// Iface Destination Gateway Flags RefCnt Use Metric Mask ...: numbers in hexadecimal but for the metric.
std::string default_route_v4(std::string_view text) {
  return best_route(text, 0, [](const std::vector<std::string>& words) -> std::optional<unsigned long> {
    if (words.size() < 8 || words[1] != "00000000" || words[7] != "00000000") return std::nullopt;
    return std::strtoul(words[6].c_str(), nullptr, 10);
  });
}

// Destination length source length gateway metric references use flags interface, in hexadecimal. The kernel's own
// rejecting route leads to lo.
std::string default_route_v6(std::string_view text) {
  return best_route(text, 9, [](const std::vector<std::string>& words) -> std::optional<unsigned long> {
    if (words[0] != std::string(32, '0') || words[1] != "00" || words[9] == "lo") return std::nullopt;
    return std::strtoul(words[5].c_str(), nullptr, 16);
  });
}

Result<OwnInterface> choose_interface(const InterfaceFacts& facts) {
  if (!facts.wanted.empty()) {
    if (auto found = find_wanted(facts)) return *found;
    return fail(ErrorCode::kNodeNotReady, "no interface " + facts.wanted + " is up and has an address");
  }
  const NcclNames nccl(facts.nccl);
  if (auto found = find_nccl_interface(facts, nccl)) return *found;
  auto found = find_any(facts, nccl);
  const bool is_ignored = found ? !nccl.is_empty() && !nccl.admits(found->name) : nccl.is_exclusion();
  if (!found) found = find_any(facts, NcclNames(""));
  if (!found) {
    return fail(ErrorCode::kNodeNotReady, "no network interface but loopback is up and has an address");
  }
  if (is_ignored) {
    found->remark = "NCCL_SOCKET_IFNAME=" + facts.nccl + " names no interface with an address that others reach: " +
                    (found->name == facts.default_route ? "the default route's " : "") + found->name + " is used";
  }
  return *found;
}

Result<OwnInterface> find_own_interface(const std::string& wanted) {
  const char* nccl = getenv("NCCL_SOCKET_IFNAME");
  return choose_interface({list_addresses(), read_default_route(), wanted, nccl != nullptr ? nccl : ""});
}

}  // namespace jaxprof::netsampler
