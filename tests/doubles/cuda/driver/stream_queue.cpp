#include "tests/doubles/cuda/driver/stream_queue.h"

#include <time.h>

#include <algorithm>

#include "tests/doubles/cuda/driver/driver_switches.h"
#include "tests/doubles/cuda/driver/engine_thread.h"
#include "tests/doubles/cuda/driver/gpu_clock.h"
#include "tests/doubles/cuda/driver/handles.h"

namespace jaxprof::fake_cuda {
namespace {

void sleep_until(std::int64_t raw_ns) {
  for (std::int64_t left = raw_ns - raw_now_ns(); left > 0; left = raw_ns - raw_now_ns()) {
    const timespec request{left / 1'000'000'000, left % 1'000'000'000};
    nanosleep(&request, nullptr);
  }
}

std::int64_t duration_ns(const Operation& operation) {
  const auto& setting = switches();
  switch (operation.kind) {
    case kFakeCudaKernel: {
      const std::int64_t own = operation.function->duration_ns;
      return own >= 0 ? own : setting[Switch::kKernelNs];
    }
    case kFakeCudaCopy:
    case kFakeCudaFill:
      return setting[Switch::kCopyNs] + static_cast<std::int64_t>(operation.bytes) * 1000 / setting[Switch::kCopyMbps];
    case kFakeCudaHost:
    case kFakeCudaGraph:
      break;
  }
  return 0;
}

// Runs a kernel's body; the times are its own if it states them.
void run_body(Operation& operation) {
  FakeCudaExecution execution{};
  execution.name = operation.name;
  execution.data = operation.function->data;
  execution.parameters = operation.parameters.data();
  execution.parameter_count = static_cast<std::uint32_t>(operation.parameters.size());
  execution.device = operation.device;
  execution.context = operation.context;
  execution.stream = operation.stream;
  execution.correlation = operation.correlation;
  execution.graph = operation.graph_run ? operation.graph_run->graph : 0;
  execution.graph_node = operation.graph_node;
  operation.begin_raw_ns = raw_now_ns();
  operation.function->body(&execution);
  operation.end_raw_ns = raw_now_ns();
  if (execution.clock == kFakeCudaClockRaw) {
    operation.begin_raw_ns = execution.begin_ns;
    operation.end_raw_ns = execution.end_ns;
  } else if (execution.clock == kFakeCudaClockRealtime) {
    operation.begin_raw_ns = GpuClock::raw_of_realtime(execution.begin_ns);
    operation.end_raw_ns = operation.begin_raw_ns + (execution.end_ns - execution.begin_ns);
  }
}

}  // namespace

void StreamQueue::add(OperationPtr operation) {
  const std::lock_guard lock(mutex_);
  if (!is_running_) {
    is_running_ = true;
    start_engine_thread([this] { run(); });
  }
  queue_.push_back(std::move(operation));
  ++added_;
  changed_.notify_all();
}

void StreamQueue::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, goal = added_] { return done_ >= goal; });
}

bool StreamQueue::is_idle() {
  const std::lock_guard lock(mutex_);
  return done_ == added_;
}

void StreamQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty(); });
    OperationPtr operation = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    execute(*operation);
    ended_(std::move(operation));
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

void StreamQueue::execute(Operation& operation) {
  const std::int64_t ready_raw_ns = std::max(operation.submitted_raw_ns + switches()[Switch::kLaunchNs], free_raw_ns_);
  if (operation.kind == kFakeCudaGraph) {  // the mark behind a graph's last node
    operation.begin_raw_ns = operation.graph_run->begin_raw_ns;
    operation.end_raw_ns = operation.graph_run->end_raw_ns;
    return;
  }
  if (operation.kind == kFakeCudaKernel && operation.function->body != nullptr) {
    sleep_until(ready_raw_ns);
    run_body(operation);
  } else if (operation.is_visible && operation.kind != kFakeCudaHost) {
    operation.begin_raw_ns = ready_raw_ns;
    operation.end_raw_ns = ready_raw_ns + duration_ns(operation);
    if (operation.act) operation.act();
    sleep_until(operation.end_raw_ns);
  } else {
    sleep_until(operation.is_visible ? ready_raw_ns : free_raw_ns_);
    operation.begin_raw_ns = raw_now_ns();
    if (operation.act) operation.act();
    operation.end_raw_ns = raw_now_ns();
  }
  free_raw_ns_ = std::max(free_raw_ns_, operation.end_raw_ns);
  if (operation.graph_run && operation.is_visible) {
    GraphRun& run = *operation.graph_run;
    if (run.begin_raw_ns == 0) run.begin_raw_ns = operation.begin_raw_ns;
    run.end_raw_ns = operation.end_raw_ns;
  }
}

}  // namespace jaxprof::fake_cuda
