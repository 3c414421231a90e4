#include "agent/base/service_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

namespace jaxprof {
namespace {

// With the caller's signal mask, which the thread inherits. 0 or an errno.
int create_detached(void* (*main)(void*), void* argument, std::size_t stack_bytes) noexcept {
  pthread_attr_t attributes;
  if (const int failure = pthread_attr_init(&attributes); failure != 0) return failure;
  int failure = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (failure == 0) failure = pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  if (failure == 0) failure = pthread_create(&thread, &attributes, main, argument);
  pthread_attr_destroy(&attributes);
  return failure;
}

}  // namespace

bool start_service_thread(void* (*main)(void*), void* argument, std::size_t stack_bytes) noexcept {
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  int failure = pthread_sigmask(SIG_SETMASK, &all, &previous);
  if (failure == 0) {
    failure = create_detached(main, argument, stack_bytes);
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }
  if (failure != 0) errno = failure;
  return failure == 0;
}

}  // namespace jaxprof
