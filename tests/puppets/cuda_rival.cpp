#include "tests/puppets/cuda_rival.h"

#include <dlfcn.h>

#include <cstdlib>

namespace jaxprof::puppets {
namespace {

constexpr int kConcurrentKernel = 10;  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
constexpr std::size_t kBufferBytes = 65536;

void on_callback(void*, int, unsigned, const void*) {}

void on_request(unsigned char** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<unsigned char*>(std::calloc(1, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

// Nothing is freed: the first may be what another has lent.
void on_complete(void*, unsigned, unsigned char*, std::size_t, std::size_t) {}

// CUpti_SubscriberParams of 13.3.
struct SubscriberParameters {
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
  unsigned char allows_several;
  unsigned char padding[7];
};

// Calls the function `name` of the library; -1 if there is none.
template <typename... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  return function == nullptr ? -1 : function(arguments...);
}

}  // namespace

void be_rival(CudaRival rival, const CudaTruth& truth) {
  if (rival == CudaRival::kNone) return;
  void* const library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    truth.rival("dlopen", -1);
    return;
  }
  static void* subscriber = nullptr;
  if (rival == CudaRival::kRegister) {
    truth.rival("cuptiActivityRegisterCallbacks",
                call(library, "cuptiActivityRegisterCallbacks", &on_request, &on_complete));
    truth.rival("cuptiActivityEnable", call(library, "cuptiActivityEnable", kConcurrentKernel));
  } else if (rival == CudaRival::kMultiple) {
    char holder[64] = "";
    SubscriberParameters parameters{sizeof parameters, "rival", holder, sizeof holder, 1, {}};
    truth.rival("cuptiSubscribe_v2", call(library, "cuptiSubscribe_v2", &subscriber, &on_callback,
                                          static_cast<void*>(nullptr), &parameters));
  } else {
    truth.rival("cuptiSubscribe",
                call(library, "cuptiSubscribe", &subscriber, &on_callback, static_cast<void*>(nullptr)));
  }
}

}  // namespace jaxprof::puppets
