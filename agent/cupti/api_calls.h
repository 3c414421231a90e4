// Which calls of the CUDA driver and run-time libraries are recorded: those that launch, copy, set memory, launch or
// instantiate graphs, and wait. The rest are queries and bookkeeping, called far more often than any of these, which
// tell nothing about a training step. Numbers are CUPTI's callback ids, which never change; newer ones than a library
// knows are refused by it and do no harm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/cupti/cupti_abi.h"

namespace jaxprof::cupti {

struct ApiRange {
  std::uint16_t first;
  std::uint16_t last;
  bool starts_work;  // a record of the GPU is to follow
};

struct ApiRanges {
  const ApiRange* ranges;
  std::size_t count;
};
ApiRanges ranges_of(abi::Domain domain) noexcept;

// The calls of one interface as a table by id.
class ApiSet {
 public:
  void fill(abi::Domain domain) noexcept;
  bool is_recorded(std::uint32_t id) const noexcept { return id < kIds && (bits_[id] & kRecorded) != 0; }
  bool starts_work(std::uint32_t id) const noexcept { return id < kIds && (bits_[id] & kStartsWork) != 0; }
  // True the first time for each id.
  bool is_first(std::uint32_t id) noexcept {
    if (id >= kIds || (bits_[id] & kNamed) != 0) return false;
    bits_[id] = static_cast<std::uint8_t>(bits_[id] | kNamed);
    return true;
  }

 private:
  static constexpr std::uint32_t kIds = 1024;
  enum : std::uint8_t { kRecorded = 1, kStartsWork = 2, kNamed = 4 };
  std::uint8_t bits_[kIds] = {};
};

}  // namespace jaxprof::cupti
