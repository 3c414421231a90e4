// Why a GPU was idle, by the rule of Meta's HTA: who launches work only after the GPU has run dry makes it wait.
#pragma once

#include <cstdint>
#include <string_view>

#include "merge/study/gpu_work.h"
#include "merge/study/launch_times.h"

namespace jaxprof::study {

inline constexpr std::int64_t kLaunchGapNs = 10'000;  // shorter gaps are what launching takes

enum class IdleCause : std::uint8_t {
  kHost,     // the call that launched the next work began after the GPU had run dry
  kLaunch,   // it began before, and the gap is shorter than kLaunchGapNs
  kOther,    // it began before, and yet the work waited: for an event, a stream, another GPU
  kUnknown,  // the call was not recorded, or nothing came any more
};
inline constexpr std::size_t kIdleCauses = 4;

std::string_view word(IdleCause cause);  // "host", "launch", "other", "unknown"

// `gap` is the GPU's whole idle time between the two, whatever is in scope; `after` null: nothing came any more.
IdleCause idle_cause(TimeSpan gap, const GpuWork* after, LaunchTimes& launches);

}  // namespace jaxprof::study
