#include "netsampler/nic/sysfs_interfaces.h"

#include <algorithm>
#include <utility>

#include "agent/base/directory_listing.h"
#include "netsampler/nic/sysfs_cards.h"
#include "netsampler/nic/sysfs_text.h"

namespace jaxprof::netsampler {
namespace {

// `type` of the loopback: ARPHRD_LOOPBACK.
constexpr std::string_view kLoopback = "772";

FoundPort describe_interface(const std::string& folder, const std::string& name) {
  FoundPort found;
  found.folder = folder;
  found.inode = inode_of(folder);
  describe_device(folder + "/device", &found.info);
  found.info.name = name;
  found.info.netdev = name;
  found.info.guid = read_text(folder + "/address");
  found.info.bits_per_s = parse_interface_speed(read_text(folder + "/speed"));
  // Software interfaces say "unknown" all their life.
  const std::string state = read_text(folder + "/operstate");
  found.info.is_active = state == "up" || state == "unknown";
  return found;
}

}  // namespace

std::vector<FoundPort> list_interfaces(const std::string& sysfs_root, const std::set<std::string>& wanted) {
  std::vector<FoundPort> of_cards;
  std::vector<FoundPort> others;
  const std::string all = sysfs_root + "/class/net";
  for (const std::string& name : list_directory(all)) {
    const std::string folder = all + "/" + name;
    if (read_text(folder + "/type") == kLoopback) continue;
    FoundPort found = describe_interface(folder, name);
    const bool has_card = inode_of(folder + "/device") != 0;
    if (!found.info.is_active && !wanted.contains(name)) continue;
    (has_card || wanted.contains(name) ? of_cards : others).push_back(std::move(found));
  }
  return of_cards.empty() ? others : of_cards;
}

}  // namespace jaxprof::netsampler
