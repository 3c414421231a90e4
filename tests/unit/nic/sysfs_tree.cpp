#include "tests/unit/nic/sysfs_tree.h"

#include <filesystem>
#include <fstream>

namespace jaxprof::test {
namespace {

namespace fs = std::filesystem;

std::string pci_folder(const std::string& pci) {
  return "devices/pci" + pci.substr(0, 7) + "/" + pci;
}

}  // namespace

void SysfsTree::write(const std::string& path, const std::string& text) {
  const fs::path whole = fs::path(root()) / path;
  // Written in place, so that open files see it.
  std::ofstream file(whole, std::ios::trunc);
  if (!file) {
    fs::create_directories(whole.parent_path());
    file.open(whole, std::ios::trunc);
  }
  file << text;
}

void SysfsTree::remove(const std::string& path) {
  fs::remove_all(fs::path(root()) / path);
}

void SysfsTree::link(const std::string& path, const std::string& target) {
  const fs::path whole = fs::path(root()) / path;
  fs::create_directories(whole.parent_path());
  fs::remove(whole);
  fs::create_symlink(fs::path(target).is_absolute() ? fs::path(target) : fs::path(root()) / target, whole);
}

void SysfsTree::add_card(const std::string& name, const std::string& pci, const std::string& kernel_driver,
                         const std::string& guid) {
  const std::string device = pci_folder(pci);
  const std::string folder = device + "/infiniband/" + name;
  write(folder + "/node_guid", guid + "\n");
  link(folder + "/device", device);
  fs::create_directories(fs::path(root()) / "bus/pci/drivers" / kernel_driver);
  link(device + "/driver", "bus/pci/drivers/" + kernel_driver);
  write(device + "/numa_node", "1\n");
  link(card(name), folder);
  add_port(name, 1);
}

void SysfsTree::add_software_card(const std::string& name, const std::string& parent) {
  const std::string folder = "devices/virtual/infiniband/" + name;
  write(folder + "/node_guid", "505a:83ff:fe3c:11a5\n");
  write(folder + "/parent", parent + "\n");
  link(card(name), folder);
  add_port(name, 1);
}

void SysfsTree::add_port(const std::string& name, unsigned port) {
  const std::string folder = card(name) + "/ports/" + std::to_string(port);
  write(folder + "/state", "4: ACTIVE\n");
  write(folder + "/rate", "100 Gb/sec (4X EDR)\n");
}

void SysfsTree::remove_card(const std::string& name) {
  const fs::path whole = fs::path(root()) / card(name);
  fs::remove_all(fs::read_symlink(whole));
  fs::remove(whole);
}

void SysfsTree::rename_card(const std::string& from, const std::string& to) {
  const fs::path before = fs::path(root()) / card(from);
  const fs::path folder = fs::read_symlink(before);
  fs::rename(folder, folder.parent_path() / to);
  fs::remove(before);
  fs::create_symlink(folder.parent_path() / to, fs::path(root()) / card(to));
}

void SysfsTree::add_interface(const std::string& name, const std::string& pci, const std::string& kernel_driver) {
  const std::string folder = (pci.empty() ? "devices/virtual/net/" : pci_folder(pci) + "/net/") + name;
  write(folder + "/type", "1\n");
  write(folder + "/address", "02:00:00:00:00:01\n");
  write(folder + "/operstate", "up\n");
  write(folder + "/speed", "25000\n");
  write(folder + "/dev_port", "0\n");
  if (!pci.empty()) {
    link(folder + "/device", pci_folder(pci));
    fs::create_directories(fs::path(root()) / "bus/pci/drivers" / kernel_driver);
    link(pci_folder(pci) + "/driver", "bus/pci/drivers/" + kernel_driver);
  }
  link("class/net/" + name, folder);
  for (const char* counter : {"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors",
                              "rx_dropped", "tx_dropped", "rx_crc_errors", "collisions"}) {
    set_statistic(name, counter, 0);
  }
}

void SysfsTree::set_statistic(const std::string& interface, const std::string& name, std::uint64_t value) {
  write("class/net/" + interface + "/statistics/" + name, std::to_string(value) + "\n");
}

void SysfsTree::set(const std::string& name, const std::string& counter, const std::string& text) {
  write(port(name) + "/hw_counters/" + counter, text);
}
void SysfsTree::set(const std::string& name, const std::string& counter, std::uint64_t value) {
  set(name, counter, std::to_string(value) + "\n");
}
void SysfsTree::set_all(const std::string& name, const NicCounters& counters) {
  for (const auto& [counter, value] : counters) set(name, counter, value);
}
void SysfsTree::set_pma(const std::string& name, const std::string& counter, const std::string& text) {
  write(port(name) + "/counters/" + counter, text);
}
void SysfsTree::set_pma(const std::string& name, const std::string& counter, std::uint64_t value) {
  set_pma(name, counter, std::to_string(value) + "\n");
}
void SysfsTree::set_of_device(const std::string& name, const std::string& counter, std::uint64_t value) {
  write(card(name) + "/hw_counters/" + counter, std::to_string(value) + "\n");
}

}  // namespace jaxprof::test
