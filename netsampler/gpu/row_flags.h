// What a row of a board says against the one before it: a counter that went back was set to zero (the driver was loaded
// anew, the board was reset), or it has few bits and went round. Pure.
#pragma once

#include <cstdint>

#include "netsampler/gpu/gpu_board.h"

namespace jaxprof::netsampler {

// kSampleReset, kSampleWrapped of spool::SampleFlag. Missing values say nothing.
std::uint32_t compare_gpu_rows(const GpuRow& previous, const GpuRow& now);

}  // namespace jaxprof::netsampler
