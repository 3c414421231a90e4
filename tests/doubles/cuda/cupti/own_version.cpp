// The version of the file that this is linked into; the build says it.

#include "tests/doubles/cuda/cupti/cupti_switches.h"

namespace jaxprof::fake_cuda {

const std::int64_t kOwnVersion = FAKE_CUPTI_OWN_VERSION;

}  // namespace jaxprof::fake_cuda
