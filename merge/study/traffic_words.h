// What the counters of network ports tell, by name: each driver has names of its own for the same things. A counter
// that is not listed tells of errors if the file says so, and else nothing that can be compared between drivers.
#pragma once

#include <cstdint>
#include <string_view>

#include "merge/runfile/counter_table.h"

namespace jaxprof::study {

enum class Traffic : std::uint8_t {
  kOutBytes,  // all that the port sent
  kInBytes,
  kOutPackets,
  kInPackets,
  kSendBytes,        // by sends
  kReceiveBytes,     // what others sent by sends
  kReadBytes,        // fetched from others by RDMA reads
  kReadServedBytes,  // what others fetched
  kWriteBytes,       // put to others by RDMA writes
  kWriteTakenBytes,  // what others put here
  kRetransmits,      // packets or requests that were sent again, or found to be missing
  kCongestion,       // congestion marks and notifications
  kErrors,           // what else the driver or the file calls an error
  kOther,
  kCount,
};

Traffic traffic_of(const runfile::CounterColumn& column);

}  // namespace jaxprof::study
