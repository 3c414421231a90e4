#include "netsampler/nic/sysfs_cards.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "agent/base/directory_listing.h"
#include "agent/base/parse_number.h"
#include "netsampler/nic/counter_table.h"
#include "netsampler/nic/sysfs_text.h"

namespace jaxprof::netsampler {
namespace {

std::string last_part_of_link(const std::string& link) {
  std::error_code error;
  return std::filesystem::read_symlink(link, error).filename().string();
}

// Port N of a card is the interface whose dev_port is N - 1; a card with one interface has no need to say so.
std::string interface_of_port(const std::string& device, unsigned port) {
  const std::vector<std::string> names = list_directory(device + "/net");
  for (const std::string& name : names) {
    if (read_text(device + "/net/" + name + "/dev_port") == std::to_string(port - 1)) return name;
  }
  return names.size() == 1 ? names[0] : std::string();
}

std::string find_interface(const std::string& card, const std::string& port_folder, unsigned port) {
  if (std::string parent = read_text(card + "/parent"); !parent.empty()) return parent;
  if (std::string name = read_text(port_folder + "/gid_attrs/ndevs/0"); !name.empty()) return name;
  return interface_of_port(card + "/device", port);
}

// What is the same for all ports of a card.
PortInfo describe_card(const std::string& card, const std::string& name) {
  PortInfo info;
  info.name = name;
  describe_device(card + "/device", &info);
  info.driver = rdma_driver(info.driver);
  // Only rdma_rxe has this file. It sits on any network interface, and on old kernels calls its device its own.
  if (!read_text(card + "/parent").empty()) {
    info.driver = "rdma_rxe";
    info.pci.clear();
  }
  info.guid = read_text(card + "/node_guid");
  if (info.guid.find_first_not_of("0:") == std::string::npos) info.guid.clear();
  return info;
}

}  // namespace

std::uint64_t inode_of(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
}

void describe_device(const std::string& link, PortInfo* info) {
  std::error_code error;
  info->pci = find_pci_address(std::filesystem::canonical(link, error).string());
  info->driver = last_part_of_link(link + "/driver");
  const std::optional<std::int64_t> numa = parse_int64(read_text(link + "/numa_node"));
  info->numa = numa && *numa >= 0 && *numa < 1 << 20 ? static_cast<int>(*numa) : -1;
}

SysfsCards list_cards(const std::string& sysfs_root) {
  SysfsCards cards;
  const std::string all = sysfs_root + "/class/infiniband";
  for (const std::string& name : list_directory(all)) {
    const std::string card = all + "/" + name;
    const PortInfo info = describe_card(card, name);
    bool is_first = true;
    for (const std::string& number : list_directory(card + "/ports")) {
      const std::optional<std::uint64_t> port = parse_uint64(number);
      if (!port || *port == 0 || *port > 0xffff) continue;
      FoundPort found;
      found.folder = card + "/ports/" + number;
      found.info = info;
      found.info.port = static_cast<unsigned>(*port);
      found.info.netdev = find_interface(card, found.folder, found.info.port);
      found.info.is_active = is_active_state(read_text(found.folder + "/state"));
      found.info.bits_per_s = parse_link_rate(read_text(found.folder + "/rate"));
      found.inode = inode_of(found.folder);
      if (is_first) found.device_folder = card;
      is_first = false;
      cards.ports.push_back(std::move(found));
    }
    if (is_first) cards.without_folder.push_back(name);
  }
  return cards;
}

}  // namespace jaxprof::netsampler
