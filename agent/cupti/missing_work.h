// What is still to come from CUPTI, and what never came: launches whose work is not on record, and buffers that it has
// not given back. CUPTI has no call that says so. Both are known here when the last call has been read, so one asks
// again until nothing is missing, or counts what is. Flusher thread.
#pragma once

#include <cstdint>

namespace jaxprof::cupti {

class MissingWork {
 public:
  // Has all come that was launched, and been read?
  bool is_none() const noexcept;
  // It is waited for no longer, and CUPTI has been asked by force: counts it. Once for each launch and buffer.
  void count() noexcept;

 private:
  std::uint32_t lost_buffers_ = 0;  // that CUPTI still holds, and that are counted
  std::uint64_t lost_before_ = 0;   // records that were counted as lost by other names, when this was last called
};

}  // namespace jaxprof::cupti
