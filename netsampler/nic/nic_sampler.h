// The network ports of a node and their counters, wherever this kernel, driver and container let them be read: RDMA
// netlink, sysfs, or the network interface. Finds ports by listing, never by name or number; knows them again after a
// rename or a loss; one odd counter costs that counter, and one lost card its rows. It decides neither when to read
// nor where rows go (netsampler/node). One thread; never needs a privilege, never blocks but inside the driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netsampler/nic/port.h"

namespace jaxprof::netsampler {

struct NicSettings {
  std::string sysfs_root = "/sys";
  // kNone: the best one, port by port. kNetlink, kSysfs: where hw_counters are read, and nowhere else; counters/, which
  // is in sysfs alone, is read with either. kNetdev: network interfaces only.
  spool::NicSource source = spool::NicSource::kNone;
  unsigned hz = 0;            // of fast rows of all ports, 1 to 1000; 0: by driver
  bool is_half_rate = false;  // another run samples this node too
};

// What a rescan found, against the one before.
struct NicUpdate {
  std::vector<Change> changes;  // in order; ports with a change need their record written again
  std::vector<NicNote> notes;   // each text once in the sampler's life
};

// Asks the kernel's RDMA netlink; replaced in tests by recorded replies (rdma_link.h).
class RdmaLink;

class NicSampler {
 public:
  explicit NicSampler(NicSettings settings);
  NicSampler(NicSettings settings, std::unique_ptr<RdmaLink> link);
  ~NicSampler();
  NicSampler(const NicSampler&) = delete;
  NicSampler& operator=(const NicSampler&) = delete;

  // Lists what there is. New and returned ports are read five times, to see which counters answer and how long it
  // takes; then all periods are set anew, and also when readings have come to take twice or half as long. To be called
  // first, every 5 s, and when wants_rescan() (at most once a second).
  NicUpdate rescan();
  // A port was lost since the last rescan, or its counters became others.
  bool wants_rescan() const;
  const std::vector<Port>& ports() const;
  // Reads the port's fast columns, or all. `reading` is used again and again, so that nothing is allocated. Costs
  // nothing while the port is not present.
  void read(std::size_t port, bool fast_only, Reading* reading);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jaxprof::netsampler
