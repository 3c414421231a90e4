// What is still to come from CUPTI, and what never came: launches whose work is not on record, and buffers that it has
// not given back. CUPTI has no call that says so. Both are known here when the last call has been read, so one asks
// again until nothing is missing, or counts what is. Where nobody knows how much a graph's launch is to yield, nothing
// must have come for a while. Flusher thread.
#pragma once

#include <cstdint>

namespace jaxprof::cupti {

// Buffers that CUPTI holds are waited for no longer: counts those that were not counted before, and takes them out of
// what the process's slot says that it would lose if it died. False if there are none. The flusher, or who has given up
// on it.
bool write_off_buffers() noexcept;

// Launches of which something is known to be missing. Any thread.
std::uint32_t open_launches() noexcept;

class MissingWork {
 public:
  // Has all come that was launched, and been read? To be asked again and again while one asks CUPTI.
  bool is_none() noexcept;
  // It is waited for no longer, and CUPTI has been asked by force: counts it. Once for each launch and buffer.
  void count() noexcept;

 private:
  // Has CUPTI given nothing back for a while?
  bool is_quiet() noexcept;

  std::uint64_t lost_before_ = 0;  // records that were counted as lost by other names, when this was last called
  std::uint64_t returns_ = 0;      // of buffers, when one was last seen
  std::int64_t quiet_since_ns_ = 0;
};

}  // namespace jaxprof::cupti
