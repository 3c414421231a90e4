#include "tests/doubles/cuda/cupti/worker.h"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/doubles/cuda/cupti/tool.h"

namespace jaxprof::fake_cuda {
namespace {

struct Bell {
  std::mutex mutex;
  std::condition_variable rung;
  bool is_rung = false;
  bool is_running = false;
};

Bell& bell() {
  static auto* const one = new Bell;
  return *one;
}

thread_local bool is_own_thread = false;

void run() {
  is_own_thread = true;
  for (;;) {
    {
      std::unique_lock lock(bell().mutex);
      bell().rung.wait(lock, [] { return bell().is_rung; });
      bell().is_rung = false;
    }
    Tool::get().give_back_full();
  }
}

}  // namespace

void wake_worker() {
  const std::lock_guard lock(bell().mutex);
  if (!bell().is_running) {
    bell().is_running = true;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(run).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  bell().is_rung = true;
  bell().rung.notify_one();
}

bool is_worker() {
  return is_own_thread;
}

void be_worker() {
  is_own_thread = true;
}

}  // namespace jaxprof::fake_cuda
