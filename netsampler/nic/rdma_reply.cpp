#include "netsampler/nic/rdma_reply.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

namespace jaxprof::netsampler {
namespace {

using Attributes = std::array<nlattr*, RDMA_NLDEV_ATTR_MAX>;

// The messages of an answer, one after the other. libnl takes pointers that it could write through, and does not; it
// reads headers in place, so the answer must begin at a multiple of four.
class Messages {
 public:
  explicit Messages(NetlinkBytes bytes)
      : next_(reinterpret_cast<nlmsghdr*>(const_cast<std::uint8_t*>(bytes.data()))),
        left_(bytes.size() > std::numeric_limits<int>::max() ? 0 : static_cast<int>(bytes.size())) {}

  // Null at the end.
  nlmsghdr* next() {
    if (nlmsg_ok(next_, left_) == 0) return nullptr;
    nlmsghdr* message = next_;
    next_ = nlmsg_next(message, &left_);
    return message;
  }

 private:
  nlmsghdr* next_;
  int left_;
};

bool is_answer(const nlmsghdr& message, std::uint16_t command) {
  return message.nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

// Attributes by type; of one that comes twice the last.
Attributes attributes_of(nlattr* first, int length) {
  Attributes found{};
  int left = length;
  for (nlattr* attribute = first; nla_ok(attribute, left) != 0; attribute = nla_next(attribute, &left)) {
    const auto type = static_cast<std::size_t>(nla_type(attribute));
    if (type < found.size()) found[type] = attribute;
  }
  return found;
}

Attributes attributes_of(nlmsghdr* message) {
  return attributes_of(nlmsg_attrdata(message, 0), nlmsg_attrlen(message, 0));
}

// The value of an attribute of `Number`'s size; 0 if it is none.
template <typename Number>
Number number(const nlattr* attribute) {
  Number value = 0;
  if (attribute != nullptr && nla_len(attribute) >= static_cast<int>(sizeof value)) {
    std::memcpy(&value, nla_data(attribute), sizeof value);
  }
  return value;
}

std::string_view text(const nlattr* attribute) {
  if (attribute == nullptr) return {};
  const auto* begin = static_cast<const char*>(nla_data(attribute));
  return {begin, ::strnlen(begin, static_cast<std::size_t>(nla_len(attribute)))};
}

std::string guid_text(std::uint64_t guid) {
  if (guid == 0) return {};
  std::array<char, 20> out{};
  std::snprintf(out.data(), out.size(), "%04x:%04x:%04x:%04x", static_cast<unsigned>(guid >> 48 & 0xffff),
                static_cast<unsigned>(guid >> 32 & 0xffff), static_cast<unsigned>(guid >> 16 & 0xffff),
                static_cast<unsigned>(guid & 0xffff));
  return out.data();
}

// Without a name if it is none.
RdmaCounter parse_counter(const nlattr& entry) {
  RdmaCounter counter;
  bool has_value = false;
  int left = nla_len(&entry);
  for (auto* part = static_cast<nlattr*>(nla_data(&entry)); nla_ok(part, left) != 0; part = nla_next(part, &left)) {
    if (nla_type(part) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME) counter.name = text(part);
    if (nla_type(part) != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE) continue;
    counter.value = number<std::uint64_t>(part);
    has_value = nla_len(part) >= static_cast<int>(sizeof counter.value);
  }
  return has_value ? counter : RdmaCounter{};
}

}  // namespace

int find_netlink_error(NetlinkBytes bytes) {
  const nlmsghdr* message = Messages(bytes).next();
  if (message == nullptr) return EBADMSG;
  if (message->nlmsg_type != NLMSG_ERROR && message->nlmsg_type != NLMSG_DONE) return 0;
  std::int32_t error = 0;
  if (nlmsg_datalen(message) < static_cast<int>(sizeof error)) return message->nlmsg_type == NLMSG_DONE ? 0 : EBADMSG;
  std::memcpy(&error, nlmsg_data(message), sizeof error);
  return error < 0 && error > -4096 ? -error : 0;
}

bool is_end_of_dump(NetlinkBytes bytes) {
  Messages messages(bytes);
  while (const nlmsghdr* message = messages.next()) {
    if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) return true;
  }
  return false;
}

std::vector<RdmaDevice> parse_rdma_devices(NetlinkBytes bytes) {
  std::vector<RdmaDevice> devices;
  Messages messages(bytes);
  while (nlmsghdr* message = messages.next()) {
    if (!is_answer(*message, RDMA_NLDEV_CMD_GET)) continue;
    const Attributes found = attributes_of(message);
    if (found[RDMA_NLDEV_ATTR_DEV_INDEX] == nullptr || found[RDMA_NLDEV_ATTR_DEV_NAME] == nullptr) continue;
    devices.push_back({.index = number<std::uint32_t>(found[RDMA_NLDEV_ATTR_DEV_INDEX]),
                       .name = std::string(text(found[RDMA_NLDEV_ATTR_DEV_NAME])),
                       .guid = guid_text(number<std::uint64_t>(found[RDMA_NLDEV_ATTR_NODE_GUID])),
                       .port_count = number<std::uint32_t>(found[RDMA_NLDEV_ATTR_PORT_INDEX])});
  }
  return devices;
}

std::vector<RdmaPort> parse_rdma_ports(NetlinkBytes bytes) {
  static constexpr std::uint8_t kActive = 4;  // IB_PORT_ACTIVE
  std::vector<RdmaPort> ports;
  Messages messages(bytes);
  while (nlmsghdr* message = messages.next()) {
    if (!is_answer(*message, RDMA_NLDEV_CMD_PORT_GET)) continue;
    const Attributes found = attributes_of(message);
    if (found[RDMA_NLDEV_ATTR_PORT_INDEX] == nullptr) continue;
    ports.push_back({.port = number<std::uint32_t>(found[RDMA_NLDEV_ATTR_PORT_INDEX]),
                     .netdev = std::string(text(found[RDMA_NLDEV_ATTR_NDEV_NAME])),
                     .is_active = number<std::uint8_t>(found[RDMA_NLDEV_ATTR_PORT_STATE]) == kActive});
  }
  return ports;
}

bool parse_rdma_counters(NetlinkBytes bytes, std::vector<RdmaCounter>* counters) {
  counters->clear();
  nlmsghdr* message = Messages(bytes).next();
  if (message == nullptr || !is_answer(*message, RDMA_NLDEV_CMD_STAT_GET)) return false;
  nlattr* table = attributes_of(message)[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS];
  if (table == nullptr) return false;
  int left = nla_len(table);
  for (auto* entry = static_cast<nlattr*>(nla_data(table)); nla_ok(entry, left) != 0; entry = nla_next(entry, &left)) {
    const RdmaCounter counter = parse_counter(*entry);
    if (!counter.name.empty()) counters->push_back(counter);
  }
  return !counters->empty();
}

}  // namespace jaxprof::netsampler
