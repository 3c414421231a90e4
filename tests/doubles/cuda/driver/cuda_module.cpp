// Modules and functions. An image means nothing here: a module has every function that is asked of it, which does
// nothing for FAKE_CUDA_KERNEL_NS. Functions that do something come from fake_cuda_kernel().

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/driver_switches.h"
#include "tests/doubles/cuda/driver/engine.h"

using namespace jaxprof::fake_cuda;

namespace {

CUfunction make_function(const char* name, CUmodule module) {
  auto* const function = new CUfunc_st;
  function->name = strdup(name);
  function->module = module;
  return function;
}

CUresult load(CUmodule* module) {
  Engine& engine = Engine::get();
  if (engine.current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *module = new CUmod_st;
  (*module)->id = engine.next_module();
  engine.tell(ResourceEvent{
      .cbid = CUPTI_CBID_RESOURCE_MODULE_LOADED, .context = engine.current(), .module_id = (*module)->id});
  return CUDA_SUCCESS;
}

// What a name in freed memory might read as. The memory itself stays: the test must see the text, not crash.
void poison(char* name) {
  static constexpr char kText[] = "poisoned";
  const std::size_t length = std::strlen(name);
  for (std::size_t i = 0; i < length; ++i) name[i] = kText[i % (sizeof kText - 1)];
}

}  // namespace

extern "C" {

void* fake_cuda_kernel(const char* name, FakeCudaBody body, void* data) {
  CUfunction const function = make_function(name, nullptr);
  function->body = body;
  function->data = data;
  return function;
}

void fake_cuda_kernel_shape(void* handle, std::uint32_t parameter_count, std::int64_t duration_ns) {
  auto* const function = static_cast<CUfunction>(handle);
  function->parameter_count = parameter_count;
  function->duration_ns = duration_ns;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return FAKE_CUDA_TRACED(cuModuleLoadData, nullptr, ({module, image}), [&] { return load(module); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return FAKE_CUDA_TRACED(cuModuleLoadDataEx, nullptr, ({module, image, count, options, values}),
                          [&] { return load(module); });
}

CUresult cuModuleUnload(CUmodule module) {
  return FAKE_CUDA_TRACED(cuModuleUnload, nullptr, {module}, [&] {
    Engine& engine = Engine::get();
    engine.tell(ResourceEvent{
        .cbid = CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, .context = engine.current(), .module_id = module->id});
    if (switches()[Switch::kPoisonNames] != 0) {
      for (CUfunction function : module->functions) poison(function->name);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return FAKE_CUDA_TRACED(cuModuleGetFunction, nullptr, ({function, module, name}), [&] {
    const auto found = std::find_if(module->functions.begin(), module->functions.end(),
                                    [name](CUfunction known) { return std::strcmp(known->name, name) == 0; });
    if (found != module->functions.end()) {
      *function = *found;
    } else {
      *function = make_function(name, module);
      module->functions.push_back(*function);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return FAKE_CUDA_TRACED(cuFuncGetName, nullptr, ({name, function}), [&] {
    *name = function->name;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
