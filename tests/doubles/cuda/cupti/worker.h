// CUPTI's own thread: it gives full buffers back, so that a client is called by a thread that it never saw.
#pragma once

namespace jaxprof::fake_cuda {

// Has it look for full buffers; started with the first call.
void wake_worker();
// Is the calling thread CUPTI's own, or the driver's?
bool is_worker();
void be_worker();

}  // namespace jaxprof::fake_cuda
