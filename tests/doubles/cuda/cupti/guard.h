// What is true before any CUPTI function does anything: the process is not a forked child, there is a driver, and CUPTI
// has not given up. The real one answers 999 where there is no driver.
#pragma once

#include <cupti.h>

#include "tests/doubles/cuda/cupti/tool.h"

namespace jaxprof::fake_cuda {

// CUPTI_SUCCESS if `function` may go on; else what it returns.
CUptiResult may_run(const char* function);
// The same for a V1 function that changes or reads activity, which V2 subscribers exclude.
CUptiResult may_run_v1(const char* function);
// The same for a _v2 function of one subscriber, which is found.
CUptiResult may_run_v2(const char* function, CUpti_SubscriberHandle handle, Client** client);
// Reports a thread whose descriptor table lacks what cuInit opened: the real driver's requests would fail there, or go
// to another file. For functions that go through to the driver.
void need_descriptors(const char* function);
// A violation where the calling thread's stack is smaller than what threads of programs have: CUPTI and the driver run
// on it, and nobody has promised that they need less.
void need_stack(const char* function);
// Keeps `result` for cuptiGetLastError.
CUptiResult remember(CUptiResult result);

}  // namespace jaxprof::fake_cuda
