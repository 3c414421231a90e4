#include "tests/doubles/cuda/driver/engine_thread.h"

#include <signal.h>

#include <thread>

namespace jaxprof::fake_cuda {

void start_engine_thread(std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the thread
  std::thread(std::move(run)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace jaxprof::fake_cuda
