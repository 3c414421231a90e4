// What a version of CUPTI can do, and what is known to be wrong with it. A version is cuptiGetVersion's number: 18 to
// 27 for CUDA 11.8 to 12.9, and major * 10000 + minor * 100 + update from 13.0 on.
#pragma once

#include <cstdint>

namespace jaxprof::cupti {

inline constexpr std::uint32_t kOldestVersion = 18;
inline constexpr std::uint32_t kNewestKnownVersion = 130599;

struct Capability {
  bool is_usable = false;
  bool can_share = false;               // its second interface works with several subscribers (driver r610 on top)
  bool can_filter_api = false;          // calls can be chosen one by one
  bool survives_refusal = false;        // of a buffer
  bool has_sized_params = false;        // cuptiSubscribe_v2 knows allows_others
  bool can_trace_hardware = false;      // by hardware events, without the faults of its first releases
  bool hangs_when_disabled = false;     // kinds have to stay enabled
  bool miscounts_when_resumed = false;  // after kinds were enabled again, launches of graphs carry wrong correlations
  const char* note = nullptr;           // what a user should know; null if nothing
};

Capability capability_of(std::uint32_t version) noexcept;

}  // namespace jaxprof::cupti
