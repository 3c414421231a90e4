// Another tool in the job's process that uses CUPTI: a profiler of the job's own, or a library that never asked whether
// it may. It finds libcupti as the job would, and keeps what it is told for itself.
#pragma once

#include "tests/puppets/cuda_options.h"
#include "tests/puppets/cuda_truth.h"

namespace jaxprof::puppets {

// Does what `rival` says, once; writes the results to the log. A missing libcupti is result -1.
void be_rival(CudaRival rival, const CudaTruth& truth);

}  // namespace jaxprof::puppets
