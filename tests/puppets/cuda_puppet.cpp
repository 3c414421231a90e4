// A job's process that uses CUDA, on a machine without a GPU: it finds the driver by dlopen, as XLA does, and with the
// fake one of tests/doubles/cuda it launches kernels, copies and graphs whose true times it knows. Its log is the truth
// that a profile of it is compared with. README.md has the log's lines; cuda_puppet --help the options.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "tests/puppets/clock.h"
#include "tests/puppets/cuda_lane.h"
#include "tests/puppets/cuda_library.h"
#include "tests/puppets/cuda_options.h"
#include "tests/puppets/cuda_rival.h"
#include "tests/puppets/cuda_truth.h"
#include "tests/puppets/step_range.h"

namespace jaxprof::puppets {
namespace {

constexpr int kExitUsage = 2;

// cudaProfilerStart before the first step of a range, Stop behind its last.
void call_profiler(const CudaOptions& options, const CudaLibrary& cuda, const CudaTruth& truth, int step,
                   bool is_before) {
  for (const auto& [first, last] : options.profiler_ranges) {
    if (step != (is_before ? first : last)) continue;
    const std::int64_t before = raw_ns();
    cuda_must(is_before ? cuda.profiler_start() : cuda.profiler_stop(), "a profiler call");
    truth.profiler(is_before ? "start" : "stop", before, raw_ns());
  }
}

// A child that does what children of fork do: it finds CUDA unusable, and leaves by exit, as a C program does.
void fork_child(const CudaLibrary& cuda) {
  const pid_t child = fork();
  if (child == 0) {
    CudaHandle stream = nullptr;
    std::exit(cuda.create_stream(&stream, 0) == 0 ? 1 : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "cuda_puppet: the forked child did not end well\n");
    std::exit(4);
  }
}

// One step on all lanes, each on a thread of its own but the first, which is the main thread's.
void run_step(const CudaOptions& options, const CudaLibrary& cuda, const CudaTruth& truth,
              std::vector<std::unique_ptr<CudaLane>>& lanes, int step) {
  const std::int64_t begin = raw_ns();
  {
    const StepRange range(options.uses_nvtx, step);
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      threads.emplace_back([&lanes, &cuda, i, step] {
        lanes[i]->make_current();
        lanes[i]->step(step);
        cuda_must(cuda.synchronize_context(), "cuCtxSynchronize");
      });
    }
    lanes.front()->make_current();
    lanes.front()->step(step);
    threads.clear();
    cuda_must(cuda.synchronize_context(), "cuCtxSynchronize");
  }
  truth.iteration(step, begin, raw_ns());
}

int end(const CudaOptions& options) {
  switch (options.exit) {
    case CudaExit::kReturn:
      break;
    case CudaExit::kExit:
      std::exit(options.exit_code);
    case CudaExit::kUnderscoreExit:
      _exit(options.exit_code);
    case CudaExit::kAbort:
      std::abort();
    case CudaExit::kTerm:
      raise(SIGTERM);
      break;
    case CudaExit::kKill:
      raise(SIGKILL);
      break;
    case CudaExit::kSegv:
      raise(SIGSEGV);
      break;
  }
  return options.exit_code;
}

int run(const CudaOptions& options) {
  static const CudaTruth truth(options.log_template);  // the engine's threads outlive main
  if (!options.log_template.empty() && !truth.is_open()) {
    std::fprintf(stderr, "cuda_puppet: cannot open its log %s\n", options.log_template.c_str());
    return kExitUsage;
  }
  for (const std::string& library : options.libraries) {
    if (dlopen(library.c_str(), RTLD_NOW) != nullptr) continue;
    std::fprintf(stderr, "cuda_puppet: %s\n", dlerror());
    return kExitUsage;
  }
  static CudaLibrary cuda;
  std::string error;
  if (!load_cuda(&cuda, &error)) {
    std::fprintf(stderr, "cuda_puppet: %s\n", error.c_str());
    return kExitUsage;
  }

  // 1. CUDA, and with it whoever is injected; a rival that was there first.
  if (options.rival == CudaRival::kSubscribe) be_rival(options.rival, truth);
  truth.header(options.n_devices);
  cuda_must(cuda.init(0), "cuInit");
  cuda.observe(
      [](const FakeCudaOperation* operation, void* has_bodies) {
        // kernels with a body have written their own line
        const bool is_module = std::string_view(operation->name) == "module_kernel";
        if (operation->kind != kFakeCudaKernel || has_bodies == nullptr || is_module) truth.operation(*operation);
      },
      options.has_bodies ? &cuda : nullptr);
  std::vector<std::unique_ptr<CudaLane>> lanes;
  for (int i = 0; i < options.n_threads; ++i) {
    lanes.push_back(std::make_unique<CudaLane>(options, cuda, truth, i));
  }

  // 2. The steps.
  for (int step = 0; step < options.n_steps; ++step) {
    if (step == options.fork_at) fork_child(cuda);
    call_profiler(options, cuda, truth, step, true);
    run_step(options, cuda, truth, lanes, step);
    call_profiler(options, cuda, truth, step, false);
    if (step == 0 && options.rival != CudaRival::kSubscribe) be_rival(options.rival, truth);
    sleep_ns(options.period_us * 1000);
  }

  // 3. The end.
  sleep_ns(options.linger_ms * 1'000'000);
  truth.footer();
  std::printf("cuda_puppet: %d steps\n", options.n_steps);
  std::fflush(stdout);
  return end(options);
}

}  // namespace
}  // namespace jaxprof::puppets

int main(int argc, char** argv) {
  std::string error;
  const auto options = jaxprof::puppets::parse_cuda_options(argc, argv, &error);
  if (!options) {
    std::fprintf(stderr, "%s\n%s", error.c_str(), jaxprof::puppets::cuda_usage().c_str());
    return 2;
  }
  if (options->wants_help) {
    std::fputs(jaxprof::puppets::cuda_usage().c_str(), stdout);
    return 0;
  }
  return jaxprof::puppets::run(*options);
}
