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

// The best address of an interface by name; `prefix`: of the first whose name begins so.
std::optional<OwnInterface> find_address(const InterfaceFacts& facts, const std::string& name, bool is_prefix = false) {
  std::optional<OwnInterface> found;
  for (const InterfaceAddress& entry : facts.addresses) {
    const bool is_meant = is_prefix ? entry.interface.starts_with(name) : entry.interface == name;
    if (!is_meant || !entry.is_up || is_link_local(entry.address)) continue;
    if (found && (found->name != entry.interface || found->address.is_v4() || !entry.address.is_v4())) continue;
    found = OwnInterface{entry.interface, entry.address};
  }
  return found;
}

// Of NCCL's language only a single name: lists and exclusions choose several interfaces, or none in particular.
std::optional<OwnInterface> find_nccl_interface(const InterfaceFacts& facts) {
  std::string name = facts.nccl;
  const bool is_exact = name.starts_with('=');
  if (is_exact) name.erase(0, 1);
  if (name.empty() || name.find_first_of("^,:") != std::string::npos) return std::nullopt;
  if (auto found = find_address(facts, name)) return found;
  return is_exact ? std::nullopt : find_address(facts, name, true);
}

std::optional<OwnInterface> find_any(const InterfaceFacts& facts) {
  for (const InterfaceAddress& entry : facts.addresses) {
    if (entry.is_loopback) continue;
    if (auto found = find_address(facts, entry.interface)) return found;
  }
  return std::nullopt;
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
    if (auto found = find_address(facts, facts.wanted)) return *found;
    return fail(ErrorCode::kNodeNotReady, "no interface " + facts.wanted + " is up and has an address");
  }
  if (auto found = find_nccl_interface(facts)) return *found;
  if (auto found = find_address(facts, facts.default_route)) return *found;
  if (auto found = find_any(facts)) return *found;
  return fail(ErrorCode::kNodeNotReady, "no network interface but loopback is up and has an address");
}

Result<OwnInterface> find_own_interface(const std::string& wanted) {
  const char* nccl = getenv("NCCL_SOCKET_IFNAME");
  return choose_interface({list_addresses(), read_default_route(), wanted, nccl != nullptr ? nccl : ""});
}

}  // namespace jaxprof::netsampler
