#include "netsampler/nic/found_port.h"

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

using Numbers = std::vector<std::optional<std::size_t>>;

bool is_same(const PortInfo& a, const PortInfo& b) {
  if (a.port != b.port || a.guid != b.guid || a.pci != b.pci) return false;
  return !a.pci.empty() || (a.netdev == b.netdev && (!a.guid.empty() || a.name == b.name));
}

// A card whose guid was set anew, a software device that was made anew.
bool is_alike(const PortInfo& a, const PortInfo& b) {
  if (a.port != b.port || a.pci != b.pci) return false;
  return a.name == b.name || (!a.pci.empty() && a.driver == b.driver && a.port != 0);
}

using IsMatch = bool (*)(const PortInfo&, const PortInfo&);

void match(const std::vector<FoundPort>& found, const std::vector<FoundPort>& known, IsMatch is_match,
           std::vector<bool>* is_taken, Numbers* numbers) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t k = 0; !(*numbers)[i] && k < known.size(); ++k) {
      if ((*is_taken)[k] || !is_match(found[i].info, known[k].info)) continue;
      (*numbers)[i] = k;
      (*is_taken)[k] = true;
    }
  }
}

}  // namespace

Numbers recognize_ports(const std::vector<FoundPort>& found, const std::vector<FoundPort>& known) {
  Numbers numbers(found.size());
  std::vector<bool> is_taken(known.size());
  match(found, known, is_same, &is_taken, &numbers);
  match(found, known, is_alike, &is_taken, &numbers);
  return numbers;
}

}  // namespace jaxprof::netsampler
