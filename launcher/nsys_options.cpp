#include "launcher/nsys_options.h"

#include <string>

namespace jaxprof::launcher {
namespace {

constexpr auto kAccepted = NsysAnswer::kAccepted;
constexpr auto kOnlyValue = NsysAnswer::kOnlyValue;
constexpr auto kRefused = NsysAnswer::kRefused;

constexpr const char* kNoSampling = "CPU and operating-system sampling is not recorded";
constexpr const char* kNoGraphics = "graphics is not recorded";
constexpr const char* kNoGpuMetrics = "GPU hardware metrics are not recorded";
constexpr const char* kNoDaemon = "there is no session daemon; every rank is profiled by its own wrapper";
constexpr const char* kAfterTheRun = "results are made after the run, by jaxprof-merge and jaxprof-study";
constexpr const char* kNoHooks = "no commands are run beside the job";
constexpr const char* kOwnOptions = "put the options into the variable JAXPROF_OPTIONS";

// Nsight Systems User Guide 2025, "CLI Profile Command Switch Options". -o, -f, -t, -y, -d, -c, -e, -p, -h,
// --capture-range-end, --wait and --version are jaxprof's own (options.cpp).
constexpr NsysOption kTable[] = {
    {'\0', "accelerator-trace", kOnlyValue, "none", "accelerators other than GPUs are not recorded"},
    {'\0', "after-collection-start", kRefused, nullptr, kNoHooks},
    {'\0', "after-report-ready", kRefused, nullptr, kNoHooks},
    {'b', "backtrace", kAccepted, nullptr, kNoSampling},
    {'\0', "command-file", kRefused, nullptr, kOwnOptions},
    {'\0', "cpu-core-events", kAccepted, nullptr, kNoSampling},
    {'\0', "cpu-core-metrics", kAccepted, nullptr, kNoSampling},
    {'\0', "cpu-socket-events", kAccepted, nullptr, kNoSampling},
    {'\0', "cpu-socket-metrics", kAccepted, nullptr, kNoSampling},
    {'\0', "cpuctxsw", kAccepted, nullptr, kNoSampling},
    {'\0', "cuda-event-trace", kAccepted, nullptr, "CUDA events are recorded by -t cuda-event"},
    {'\0', "cuda-flush-interval", kAccepted, nullptr, "buffers are flushed at least once a second"},
    {'\0', "cuda-graph-trace", kAccepted, nullptr,
     "the nodes of graphs are recorded; -t cuda-graph records whole graphs instead"},
    {'\0', "cuda-memory-usage", kAccepted, nullptr, "CUDA memory is not recorded"},
    {'\0', "cuda-trace-all-apis", kAccepted, nullptr,
     "calls that launch, copy, synchronise or use graphs are recorded, and no others"},
    {'\0', "cuda-um-cpu-page-faults", kAccepted, nullptr, "page faults are not recorded"},
    {'\0', "cuda-um-gpu-page-faults", kAccepted, nullptr, "page faults are not recorded"},
    {'\0', "cudabacktrace", kAccepted, nullptr, "call stacks are not recorded"},
    {'\0', "dask", kAccepted, nullptr, "Dask has no hooks here; its NVTX ranges are recorded as any other"},
    {'\0', "discard-environment", kAccepted, nullptr, "the job's environment is never written to the profile"},
    {'\0', "duration-frames", kRefused, nullptr, kNoGraphics},
    {'\0', "dx-force-declare-adapter-removal-support", kAccepted, nullptr, kNoGraphics},
    {'\0', "dx12-gpu-workload", kAccepted, nullptr, kNoGraphics},
    {'\0', "dx12-wait-calls", kAccepted, nullptr, kNoGraphics},
    {'\0', "enable", kRefused, nullptr,
     "nsys plugins cannot be loaded; --nic-nodes has the counters of network cards, EFA among them"},
    {'\0', "etw-provider", kRefused, nullptr, "this is for Windows"},
    {'\0', "event-sample", kAccepted, nullptr, kNoSampling},
    {'\0', "event-sampling-interval", kAccepted, nullptr, kNoSampling},
    {'\0', "export", kAccepted, nullptr, kAfterTheRun},
    {'\0', "flush-on-cudaprofilerstop", kAccepted, nullptr, "buffers are flushed at least once a second"},
    {'\0', "ftrace", kAccepted, nullptr, kNoSampling},
    {'\0', "ftrace-keep-user-config", kAccepted, nullptr, kNoSampling},
    {'\0', "gpu-metrics-device", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "gpu-metrics-devices", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "gpu-metrics-frequency", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "gpu-metrics-set", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "gpu-video-device", kAccepted, nullptr, kNoGraphics},
    {'\0', "gpuctxsw", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "hotkey-capture", kRefused, nullptr, "a job on many nodes has no keyboard; --capture-range names a range"},
    {'\0', "ib-net-info-devices", kAccepted, nullptr, "network topology is not recorded"},
    {'\0', "ib-net-info-files", kAccepted, nullptr, "network topology is not recorded"},
    {'\0', "ib-net-info-output", kAccepted, nullptr, "network topology is not recorded"},
    {'\0', "ib-switch-congestion-devices", kAccepted, nullptr, "switches are not recorded"},
    {'\0', "ib-switch-metrics-devices", kAccepted, nullptr, "switches are not recorded"},
    {'n', "inherit-environment", kOnlyValue, "true", "the job always gets the environment it was started with"},
    {'\0', "isr", kAccepted, nullptr, kNoSampling},
    {'\0', "kill", kOnlyValue, "none",
     "the profiler sends the job no signal of its own choice; --capture-range-end stop-shutdown ends it with its "
     "window"},
    {'\0', "mpi-impl", kAccepted, nullptr, "MPI calls are not recorded"},
    {'\0', "nic-metrics", kAccepted, nullptr, "NIC counters are recorded once a node, as --nic-nodes says"},
    {'\0', "nvtx-domain-exclude", kRefused, nullptr, "all NVTX domains are recorded; choose among them in the studies"},
    {'\0', "nvtx-domain-include", kRefused, nullptr, "all NVTX domains are recorded; choose among them in the studies"},
    {'\0', "opengl-gpu-workload", kAccepted, nullptr, kNoGraphics},
    {'\0', "os-events", kAccepted, nullptr, kNoSampling},
    {'\0', "osrt-backtrace-depth", kAccepted, nullptr, kNoSampling},
    {'\0', "osrt-backtrace-stack-size", kAccepted, nullptr, kNoSampling},
    {'\0', "osrt-backtrace-threshold", kAccepted, nullptr, kNoSampling},
    {'\0', "osrt-file-access", kAccepted, nullptr, kNoSampling},
    {'\0', "osrt-threshold", kAccepted, nullptr, kNoSampling},
    {'\0', "process-scope", kAccepted, nullptr, "every process of the task that calls NVTX or NCCL is recorded"},
    {'\0', "python-backtrace", kAccepted, nullptr, "Python stacks are not recorded"},
    {'\0', "python-functions-trace", kAccepted, nullptr, "Python functions are not recorded"},
    {'\0', "python-sampling", kAccepted, nullptr, "Python stacks are not recorded"},
    {'\0', "python-sampling-frequency", kAccepted, nullptr, "Python stacks are not recorded"},
    {'\0', "pytorch", kAccepted, nullptr, "PyTorch's own NVTX ranges are recorded if the job emits them"},
    {'\0', "qnx-kernel-events", kAccepted, nullptr, "this is for QNX"},
    {'\0', "qnx-kernel-events-mode", kAccepted, nullptr, "this is for QNX"},
    {'\0', "resolve-symbols", kAccepted, nullptr, kNoSampling},
    {'\0', "retain-etw-files", kAccepted, nullptr, "this is for Windows"},
    {'\0', "run-as", kRefused, nullptr, "the job runs as the user who started it"},
    {'s', "sample", kAccepted, nullptr, kNoSampling},
    {'\0', "samples-per-backtrace", kAccepted, nullptr, kNoSampling},
    {'\0', "sampling-frequency", kAccepted, nullptr, kNoSampling},
    {'\0', "sampling-period", kAccepted, nullptr, kNoSampling},
    {'\0', "sampling-trigger", kAccepted, nullptr, kNoSampling},
    {'\0', "session", kRefused, nullptr, kNoDaemon},
    {'\0', "session-new", kAccepted, nullptr, kNoDaemon},
    {'w', "show-output", kOnlyValue, "true", "the job's output is never captured"},
    {'\0', "soc-metrics", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "soc-metrics-frequency", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "soc-metrics-set", kAccepted, nullptr, kNoGpuMetrics},
    {'\0', "start-frame-index", kRefused, nullptr, kNoGraphics},
    {'Y', "start-later", kOnlyValue, "false", kNoDaemon},
    {'\0', "stats", kAccepted, nullptr, kAfterTheRun},
    {'x', "stop-on-exit", kAccepted, nullptr, "recording ends with the job, after which there is nothing to record"},
    {'\0', "storage-metrics", kAccepted, nullptr, "storage is not recorded"},
    {'\0', "syscall", kAccepted, nullptr, kNoSampling},
    {'\0', "trace-fork-before-exec", kAccepted, nullptr, "a child is recorded from its exec on"},
    {'\0', "vsync", kAccepted, nullptr, kNoGraphics},
    {'\0', "vulkan-gpu-workload", kAccepted, nullptr, kNoGraphics},
    {'\0', "wddm-additional-events", kAccepted, nullptr, "this is for Windows"},
    {'\0', "wddm-backtraces", kAccepted, nullptr, "this is for Windows"},
    {'\0', "xhv-trace", kAccepted, nullptr, kNoSampling},
    {'\0', "xhv-trace-events", kAccepted, nullptr, kNoSampling},
};

}  // namespace

std::span<const NsysOption> nsys_options() {
  return kTable;
}

const NsysOption* find_nsys_option(std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view long_name = is_long ? word.substr(2, word.find('=') - 2) : std::string_view();
  for (const NsysOption& option : kTable) {
    if (is_long ? long_name == option.long_name
                : word.size() >= 2 && word[0] == '-' && option.letter != '\0' && word[1] == option.letter) {
      return &option;
    }
  }
  return nullptr;
}

bool is_accepted(const NsysOption& option, std::string_view value) {
  if (option.answer != NsysAnswer::kOnlyValue) return option.answer == NsysAnswer::kAccepted;
  return value == option.accepted_value;
}

}  // namespace jaxprof::launcher
