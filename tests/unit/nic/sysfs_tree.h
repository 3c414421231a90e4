// A /sys of plain files: cards below devices/, links to them in class/, as the kernel lays them out. A test writes
// counters, renames cards and takes them away; a folder that is made again has another inode, as in sysfs.
#pragma once

#include <string>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/nic/netlink_bytes.h"

namespace jaxprof::test {

class SysfsTree {
 public:
  explicit SysfsTree(const std::string& base = "/tmp") : folder_(base) {}

  std::string root() const { return folder_.path(); }

  // A card at a PCI address, with port 1, which is active.
  void add_card(const std::string& name, const std::string& pci, const std::string& kernel_driver,
                const std::string& guid = "0000:0000:0000:0001");
  // A card without a device, over a network interface: rdma_rxe.
  void add_software_card(const std::string& name, const std::string& parent);
  void add_port(const std::string& card, unsigned port);
  void remove_card(const std::string& name);
  void rename_card(const std::string& from, const std::string& to);

  // A network interface that is up, of the card at `pci` or of none ("").
  void add_interface(const std::string& name, const std::string& pci = "", const std::string& kernel_driver = "");
  // Of an interface in statistics/.
  void set_statistic(const std::string& interface, const std::string& name, std::uint64_t value);

  // In ports/1/hw_counters, ports/1/counters, and the card's own hw_counters.
  void set(const std::string& card, const std::string& counter, const std::string& text);
  void set(const std::string& card, const std::string& counter, std::uint64_t value);
  void set_all(const std::string& card, const NicCounters& counters);
  void set_pma(const std::string& card, const std::string& counter, const std::string& text);
  void set_pma(const std::string& card, const std::string& counter, std::uint64_t value);
  void set_of_device(const std::string& card, const std::string& counter, std::uint64_t value);
  // Any file of the tree, by its path below the root; folders are made.
  void write(const std::string& path, const std::string& text);
  void remove(const std::string& path);
  void link(const std::string& path, const std::string& target);

  static std::string card(const std::string& name) { return "class/infiniband/" + name; }
  static std::string port(const std::string& name) { return card(name) + "/ports/1"; }

 private:
  TempFolder folder_;
};

}  // namespace jaxprof::test
