// How long CUPTI's records are. The library that writes them knows, and tells by walking: two records of a kind, one
// behind the other, are that far apart. So each kind's length is asked once, without a GPU, and buffers are then walked
// here: CUPTI's own walk costs more than reading the records does. A buffer that these lengths do not lead to the exact
// end of is walked by CUPTI after all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/record_layout.h"
#include "agent/cupti/subscriber.h"

namespace jaxprof::cupti {

class Strides {
 public:
  static constexpr std::uint32_t kKinds = 128;

  // Asks `subscriber`'s CUPTI for all kinds. True if something is known now that was not, or other than before.
  bool probe(Subscriber* subscriber) noexcept;

  // Length of a record, 0 if CUPTI does not know the kind.
  std::uint32_t of(std::uint32_t kind) const noexcept { return kind < kKinds ? bytes_[kind].load(std::memory_order_relaxed) : 0; }

  // Do whole records of known kinds fill the `bytes` exactly?
  bool fill(const std::uint8_t* buffer, std::size_t bytes) const noexcept;
  // Whole records of known kinds from the start of `buffer` on.
  std::uint64_t count(const std::uint8_t* buffer, std::size_t bytes) const noexcept;

 private:
  std::atomic<std::uint32_t> bytes_[kKinds] = {};
};

}  // namespace jaxprof::cupti
