#include "tests/puppets/cuda_lane.h"

#include "tests/puppets/clock.h"

namespace jaxprof::puppets {
namespace {

constexpr std::uint32_t kRuntimeLaunch = 211;  // CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000

// A kernel: lasts as long as its first parameter says, stamps itself, and says so. The second parameter is the step.
void kernel_body(FakeCudaExecution* execution) {
  const auto& truth = *static_cast<const CudaTruth*>(execution->data);
  execution->begin_ns = raw_ns();
  const std::int64_t begin_realtime_ns = realtime_ns();
  sleep_ns(static_cast<std::int64_t>(execution->parameters[0]));
  execution->end_ns = raw_ns();
  execution->clock = kFakeCudaClockRaw;
  truth.kernel(*execution, static_cast<std::int64_t>(execution->parameters[1]), begin_realtime_ns);
}

}  // namespace

CudaLane::CudaLane(const CudaOptions& options, const CudaLibrary& cuda, const CudaTruth& truth, int number)
    : options_(options), cuda_(cuda), truth_(truth), host_memory_(options.bytes) {
  int device = 0;
  cuda_must(cuda_.get_device(&device, number % options.n_devices), "cuDeviceGet");
  cuda_must(cuda_.retain_primary(&context_, device), "cuDevicePrimaryCtxRetain");
  make_current();
  for (int i = 0; i < options.n_streams; ++i) {
    CudaHandle stream = nullptr;
    cuda_must(cuda_.create_stream(&stream, 1), "cuStreamCreate");
    streams_.push_back(stream);
  }
  const std::string suffix = "_" + std::to_string(number);
  const auto make = [&](const std::string& name) {
    CudaHandle const kernel =
        cuda_.make_kernel(name.c_str(), options.has_bodies ? kernel_body : nullptr, const_cast<CudaTruth*>(&truth_));
    cuda_.shape_kernel(kernel, 2, options.kernel_us * 1000);
    return kernel;
  };
  kernel_ = make("puppet_kernel" + suffix);
  node_kernel_ = make("puppet_node" + suffix);
  cuda_must(cuda_.create_event(&event_, 0), "cuEventCreate");
  cuda_must(cuda_.allocate(&device_memory_, options.bytes), "cuMemAlloc");
}

void CudaLane::make_current() {
  cuda_must(cuda_.set_current(context_), "cuCtxSetCurrent");
}

void CudaLane::step(std::int64_t step) {
  for (const CudaTask& task : options_.tasks) {
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) run(task, stream, step);
  }
}

void CudaLane::run(const CudaTask& task, std::size_t index, std::int64_t step) {
  CudaHandle const stream = streams_[index];
  if (task.work == CudaWork::kGraph || task.work == CudaWork::kCapture) {
    launch_graph(graph(index, task.count, task.work == CudaWork::kCapture), stream, step);
    return;
  }
  if (task.work == CudaWork::kModule) {
    use_module(stream, task.count, step);
    return;
  }
  for (int i = 0; i < task.count; ++i) {
    switch (task.work) {
      case CudaWork::kKernel:
        launch(kernel_, stream, "kernel", step);
        break;
      case CudaWork::kRuntime:
        cuda_.runtime_begin(kRuntimeLaunch, "cudaLaunchKernel");
        launch(kernel_, stream, "runtime", step);
        cuda_.runtime_end();
        break;
      case CudaWork::kCopy:
        cuda_must(cuda_.copy_to_device(device_memory_, host_memory_.data(), host_memory_.size(), stream), "a copy");
        cuda_must(cuda_.copy_to_host(host_memory_.data(), device_memory_, host_memory_.size(), stream), "a copy");
        break;
      case CudaWork::kFill:
        cuda_must(cuda_.fill(device_memory_, 7, host_memory_.size(), stream), "cuMemsetD8Async");
        break;
      case CudaWork::kHost:
        cuda_must(cuda_.launch_host(
                      stream, [](void*) {}, nullptr),
                  "cuLaunchHostFunc");
        break;
      case CudaWork::kEvent:
        cuda_must(cuda_.record_event(event_, stream), "cuEventRecord");
        cuda_must(cuda_.wait_event(streams_[(index + 1) % streams_.size()], event_, 0), "cuStreamWaitEvent");
        break;
      case CudaWork::kSync:
        cuda_must(cuda_.synchronize_stream(stream), "cuStreamSynchronize");
        break;
      case CudaWork::kGraph:
      case CudaWork::kCapture:
      case CudaWork::kModule:
        break;
    }
  }
}

void CudaLane::launch(CudaHandle function, CudaHandle stream, const char* name, std::int64_t step) {
  auto duration_ns = static_cast<std::uint64_t>(options_.kernel_us * 1000);
  auto number = static_cast<std::uint64_t>(step);
  void* parameters[] = {&duration_ns, &number};
  const std::int64_t before = raw_ns();
  cuda_must(cuda_.launch(function, 8, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
  truth_.launch(name, step, cuda_.stream_id(stream), cuda_.last_correlation(), before, raw_ns());
}

// Made once a stream and length, and launched in each step; its kernels therefore know no step.
CudaHandle CudaLane::graph(std::size_t stream, int n_kernels, bool is_captured) {
  for (const Made& made : graphs_) {
    if (made.stream == stream && made.n_kernels == n_kernels && made.is_captured == is_captured) {
      return made.executable;
    }
  }
  auto duration_ns = static_cast<std::uint64_t>(options_.kernel_us * 1000);
  auto no_step = static_cast<std::uint64_t>(-1);
  void* parameters[] = {&duration_ns, &no_step};
  CudaHandle graph = nullptr;
  if (is_captured) {
    cuda_must(cuda_.begin_capture(streams_[stream], 0), "cuStreamBeginCapture");
    for (int i = 0; i < n_kernels; ++i) {
      cuda_must(cuda_.launch(node_kernel_, 8, 1, 1, 128, 1, 1, 0, streams_[stream], parameters, nullptr),
                "cuLaunchKernel");
    }
    cuda_must(cuda_.end_capture(streams_[stream], &graph), "cuStreamEndCapture");
  } else {
    cuda_must(cuda_.create_graph(&graph, 0), "cuGraphCreate");
    const CudaKernelNode kernel{node_kernel_, {8, 1, 1}, {128, 1, 1}, 0, parameters, nullptr, nullptr, nullptr};
    CudaHandle last = nullptr;
    for (int i = 0; i < n_kernels; ++i) {
      CudaHandle node = nullptr;
      cuda_must(cuda_.add_kernel_node(&node, graph, &last, last == nullptr ? 0 : 1, &kernel), "cuGraphAddKernelNode");
      last = node;
    }
  }
  Made made{stream, n_kernels, is_captured, nullptr};
  cuda_must(cuda_.instantiate(&made.executable, graph, 0), "cuGraphInstantiate");
  graphs_.push_back(made);
  return made.executable;
}

void CudaLane::launch_graph(CudaHandle graph, CudaHandle stream, std::int64_t step) {
  const std::int64_t before = raw_ns();
  cuda_must(cuda_.launch_graph(graph, stream), "cuGraphLaunch");
  truth_.launch("graph", step, cuda_.stream_id(stream), cuda_.last_correlation(), before, raw_ns());
}

void CudaLane::use_module(CudaHandle stream, int count, std::int64_t step) {
  CudaHandle module = nullptr;
  CudaHandle function = nullptr;
  cuda_must(cuda_.load_module(&module, ""), "cuModuleLoadData");
  cuda_must(cuda_.get_function(&function, module, "module_kernel"), "cuModuleGetFunction");
  for (int i = 0; i < count; ++i) launch(function, stream, "module", step);
  cuda_must(cuda_.synchronize_stream(stream), "cuStreamSynchronize");
  cuda_must(cuda_.unload_module(module), "cuModuleUnload");
}

}  // namespace jaxprof::puppets
