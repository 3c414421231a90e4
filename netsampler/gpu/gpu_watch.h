// jaxprof-probe --gpus HZ: opens NVML, tells the boards, and writes a row a board at each tick until nobody reads.
// Agent-safe; one thread.
#pragma once

namespace jaxprof::netsampler {

inline constexpr unsigned kMaxProbeHz = 50;

// `hz` from 1 to kMaxProbeHz. Returns when there is nothing to watch, or nobody to tell: the program's exit status.
int watch_gpus(unsigned hz) noexcept;

}  // namespace jaxprof::netsampler
