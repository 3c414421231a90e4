// Where a port's values come from: RDMA netlink (rdma_counters.h) or open files in sysfs (sysfs_counters.h). A port may
// have both, each with its own columns of the same row.
#pragma once

#include <cstdint>
#include <span>

namespace jaxprof::netsampler {

enum class ReadOutcome {
  kOk,       // some values may be missing all the same
  kLost,     // the device is gone, or is another one now
  kChanged,  // it has other counters than before
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;
  // Puts its values into their places in `values`, which has one for each column that is read, fast ones first, and
  // leaves alone what it cannot read. Where that is the fast columns only, the others are not read.
  virtual ReadOutcome read(std::span<std::uint64_t> values) = 0;
};

}  // namespace jaxprof::netsampler
