// Copies and memsets as operations, for streams and for graphs.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "tests/doubles/cuda/operation.h"

namespace jaxprof::fake_cuda {

// Device addresses are those of cuMemAlloc; any other is host memory.
OperationPtr copy_operation(CUdeviceptr target, CUdeviceptr source, std::size_t bytes);
// `count` elements of `width` bytes, 1 or 4.
OperationPtr fill_operation(CUdeviceptr target, std::uint32_t value, std::size_t width, std::size_t count);

}  // namespace jaxprof::fake_cuda
