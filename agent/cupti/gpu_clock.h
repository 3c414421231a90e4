// Readings of CUPTI's clock beside the event clock: activities carry CUPTI's stamps, everything else the event clock's,
// and only these readings join the two.
#pragma once

#include "agent/cupti/subscriber.h"

namespace jaxprof::cupti {

// CUPTI's clock now, 0 if it does not tell.
std::uint64_t read_gpu_clock(Subscriber* subscriber) noexcept;

// Reads both several times and registers the closest pair (GpuClockState). Any thread that may call CUPTI.
void register_gpu_clock(Subscriber* subscriber) noexcept;

}  // namespace jaxprof::cupti
