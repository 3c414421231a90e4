#include "tests/doubles/cuda/cupti/guard.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/doubles/cuda/cupti/misuse.h"

namespace jaxprof::fake_cuda {
namespace {

thread_local CUptiResult last_error = CUPTI_SUCCESS;

}  // namespace

CUptiResult remember(CUptiResult result) {
  if (result != CUPTI_SUCCESS) last_error = result;
  return result;
}

CUptiResult may_run(const char* function) {
  if (is_forked_child(function)) return CUPTI_ERROR_UNKNOWN;
  if (Tool::get().driver() == nullptr) return remember(CUPTI_ERROR_UNKNOWN);
  return remember(Tool::get().is_broken() ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS);
}

CUptiResult may_run_v1(const char* function) {
  const CUptiResult result = may_run(function);
  if (result != CUPTI_SUCCESS) return result;
  return remember(Tool::get().has_v2_subscriber() ? CUPTI_ERROR_NOT_COMPATIBLE : CUPTI_SUCCESS);
}

CUptiResult may_run_v2(const char* function, CUpti_SubscriberHandle handle, Client** client) {
  const CUptiResult result = may_run(function);
  if (result != CUPTI_SUCCESS) return result;
  *client = Tool::get().find(handle);
  return remember(*client == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS);
}

// cuInit has opened /dev/null.
void need_descriptors(const char* function) {
  Driver* const driver = Tool::get().driver();
  const int descriptor = driver != nullptr ? driver->descriptor() : -1;
  if (descriptor < 0) return;
  struct stat file {};
  if (fstat(descriptor, &file) == 0 && S_ISCHR(file.st_mode) && file.st_rdev == makedev(1, 3)) return;
  violation(counts().no_descriptors, "no_descriptors", function);
}

void need_stack(const char* function) {
  constexpr std::size_t kLeastBytes = 1U << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  if (bytes < kLeastBytes) violation(counts().small_stack, "small_stack", function);
}

}  // namespace jaxprof::fake_cuda

using namespace jaxprof::fake_cuda;

extern "C" CUptiResult cuptiGetLastError(void) {
  const CUptiResult result = last_error;
  last_error = CUPTI_SUCCESS;
  return result;
}
