// LD_PRELOAD: a process that gets no thread with a stack of JAXPROF_NO_STACK_BYTES, as where a limit on threads or
// memory is reached just then. All other threads start as ever, so that one user of threads fails alone. Only for
// programs that link the C library dynamically.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <cstddef>

namespace {

bool is_refused(const pthread_attr_t* attributes) {
  const char* refused = getenv("JAXPROF_NO_STACK_BYTES");
  std::size_t bytes = 0;
  if (refused == nullptr || attributes == nullptr || pthread_attr_getstacksize(attributes, &bytes) != 0) return false;
  return bytes == strtoull(refused, nullptr, 10);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*function)(void*),
                                                                     void* argument) noexcept {
  if (is_refused(attributes)) return EAGAIN;
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, function, argument);
}
