// Threads of the fake driver: they belong to nobody, take no signal that is meant for the program, and are still
// running when the process ends, as the real driver's are. What they use is never destroyed.
#pragma once

#include <functional>

namespace jaxprof::fake_cuda {

void start_engine_thread(std::function<void()> run);

}  // namespace jaxprof::fake_cuda
