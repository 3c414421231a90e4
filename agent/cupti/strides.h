// How long CUPTI's records are. The library that writes them knows, and tells by walking: two records of a kind, one
// behind the other, are that far apart. So each kind's length is asked once, without a GPU, and buffers are then walked
// here: CUPTI's own walk costs more than reading the records does. Where these lengths lead nowhere CUPTI is asked
// after all (block_filler.h).
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
  std::uint32_t of(std::uint32_t kind) const noexcept {
    return kind < kKinds ? bytes_[kind].load(std::memory_order_relaxed) : 0;
  }

  // Whole records of known kinds from the start of `buffer` on.
  std::uint64_t count(const std::uint8_t* buffer, std::size_t bytes) const noexcept;

 private:
  std::atomic<std::uint32_t> bytes_[kKinds] = {};
};

}  // namespace jaxprof::cupti
