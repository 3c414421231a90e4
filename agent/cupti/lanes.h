// Numbers of lanes: a lane is a stream of a context on a GPU. A job has a few busy ones, and each record names its own,
// so those are looked at first. Drain thread only.
#pragma once

#include <cstdint>

#include "agent/cupti/number_table.h"
#include "agent/spool/varint.h"

namespace jaxprof::cupti {

class Lanes {
 public:
  bool open() noexcept { return all_.open(); }

  // The lane's number, which is registered when it is new; 0 if too many are known.
  spool::MadeVarint number_of(std::uint32_t device, std::uint32_t context, std::uint32_t stream) noexcept {
    Recent& recent = recent_[(stream + 8 * device) % kRecent];
    const std::uint64_t place = place_of(device, context);
    const bool is_it = ((place ^ recent.place) | ((std::uint64_t{stream} + 1) ^ recent.stream_and_1)) == 0;
    return is_it ? recent.number : look(&recent, device, context, stream);
  }

 private:
  struct Key {
    std::uint32_t device, context, stream;
  };
  struct Recent {
    std::uint64_t place;
    std::uint64_t stream_and_1;  // 0: none is known
    spool::MadeVarint number;
  };
  static constexpr std::uint32_t kRecent = 64;

  static std::uint64_t place_of(std::uint32_t device, std::uint32_t context) noexcept {
    return device | std::uint64_t{context} << 32;
  }
  spool::MadeVarint look(Recent* recent, std::uint32_t device, std::uint32_t context, std::uint32_t stream) noexcept;

  NumberTable<Key, 1U << 14> all_;
  Recent recent_[kRecent] = {};
};

}  // namespace jaxprof::cupti
