#include "netsampler/nic/discovery.h"

#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "netsampler/nic/rdma_reply.h"
#include "netsampler/nic/sysfs_cards.h"
#include "netsampler/nic/sysfs_interfaces.h"

namespace jaxprof::netsampler {
namespace {

std::vector<RdmaPort> ask_ports(RdmaLink* link, const RdmaDevice& device) {
  const RdmaReply reply =
      link->ask({.command = RDMA_NLDEV_CMD_PORT_GET, .is_dump = true, .device = device.index, .port = {}});
  return reply.error == 0 ? parse_rdma_ports(reply.bytes) : std::vector<RdmaPort>();
}

// The ports of a card that sysfs does not show.
void add_hidden_card(RdmaLink* link, const RdmaDevice& device, std::vector<FoundPort>* ports) {
  for (const RdmaPort& port : ask_ports(link, device)) {
    FoundPort found;
    found.info.name = device.name;
    found.info.guid = device.guid;
    found.info.netdev = port.netdev;
    found.info.port = port.port;
    found.info.is_active = port.is_active;
    found.rdma_device = device.index;
    ports->push_back(std::move(found));
  }
}

void add_netlink(RdmaLink* link, const RdmaDevice& device, std::vector<FoundPort>* ports) {
  bool is_in_sysfs = false;
  for (FoundPort& port : *ports) {
    if (port.info.name != device.name) continue;
    port.rdma_device = device.index;
    if (port.info.guid.empty()) port.info.guid = device.guid;
    is_in_sysfs = true;
  }
  if (!is_in_sysfs) add_hidden_card(link, device, ports);
}

}  // namespace

Discovery discover_ports(const std::string& sysfs_root, RdmaLink* link, bool with_cards,
                         const std::set<std::string>& kept) {
  Discovery found;
  std::set<std::string> interfaces = kept;
  if (with_cards) {
    SysfsCards cards = list_cards(sysfs_root);
    found.ports = std::move(cards.ports);
    found.without_folder = std::move(cards.without_folder);
    const RdmaReply reply = link->ask({.command = RDMA_NLDEV_CMD_GET, .is_dump = true, .device = {}, .port = {}});
    found.rdma_error = reply.error;
    // Copied out of the reply: its bytes end with the next question.
    const std::vector<RdmaDevice> devices =
        reply.error == 0 ? parse_rdma_devices(reply.bytes) : std::vector<RdmaDevice>();
    for (const RdmaDevice& device : devices) add_netlink(link, device, &found.ports);
    for (const FoundPort& port : found.ports) interfaces.insert(port.info.netdev);
  }
  std::vector<FoundPort> of_network = list_interfaces(sysfs_root, interfaces);
  std::move(of_network.begin(), of_network.end(), std::back_inserter(found.ports));
  return found;
}

}  // namespace jaxprof::netsampler
