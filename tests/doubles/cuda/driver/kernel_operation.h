// From the arguments of a launch to the operation that it queues.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tests/doubles/cuda/operation.h"

namespace jaxprof::fake_cuda {

// Copies as many parameters as the function has.
OperationPtr kernel_operation(CUfunction function, const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3],
                              std::uint32_t shared_bytes, void* const* parameters);

}  // namespace jaxprof::fake_cuda
