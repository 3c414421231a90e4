// What is still to come from CUPTI, and what never came: launches whose work is not on record, and buffers that it has
// not given back. CUPTI has no call that says so. Both are known here when the last call has been read, so one asks
// again until nothing is missing, or counts what is. Flusher thread.
#pragma once

#include <cstdint>

namespace jaxprof::cupti {

// Buffers that CUPTI holds are waited for no longer: counts those that were not counted before, and takes them out of
// what the process's slot says that it would lose if it died. False if there are none. The flusher, or who has given up
// on it.
bool write_off_buffers() noexcept;

class MissingWork {
 public:
  // Has all come that was launched, and been read?
  bool is_none() const noexcept;
  // It is waited for no longer, and CUPTI has been asked by force: counts it. Once for each launch and buffer.
  void count() noexcept;

 private:
  std::uint64_t lost_before_ = 0;  // records that were counted as lost by other names, when this was last called
};

}  // namespace jaxprof::cupti
