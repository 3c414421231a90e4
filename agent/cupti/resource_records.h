// Devices, contexts and streams, from CUPTI's records of them: registrations that activities refer to. Each is
// registered once, however often CUPTI tells of it. Drain thread only.
#pragma once

#include <cstdint>

#include "agent/cupti/number_table.h"
#include "agent/cupti/record_layout.h"

namespace jaxprof::cupti {

class ResourceRecords {
 public:
  bool open() noexcept { return seen_.open(); }
  void add_device(const Record& record) noexcept;
  void add_context(const Record& record) noexcept;

 private:
  struct Key {
    std::uint32_t kind;
    std::uint32_t number;
    std::uint32_t detail;
  };
  bool is_first(const Key& key) noexcept;

  NumberTable<Key, 4096> seen_;
};

}  // namespace jaxprof::cupti
