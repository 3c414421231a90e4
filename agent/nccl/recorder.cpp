#include "agent/nccl/recorder.h"

#include "agent/nccl/descriptors.h"

namespace jaxprof::nccl {

namespace detail {
constinit std::atomic<std::uint64_t> shared_handle_count{0};
}  // namespace detail

namespace {

using collect::ThreadSink;
using spool::EventKind;
namespace field = spool::nccl_field;

void write_short(EventKind kind, std::uint32_t id, std::uint64_t number, std::uint64_t stamp) noexcept {
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return;
  std::uint64_t* fields = collect::begin(sink, kind, id, stamp, 1);
  if (fields == nullptr) return;
  fields[field::kHandle] = number;
  collect::commit(sink);
}

}  // namespace

void begin_launch(ThreadSink* sink, std::uint64_t number) noexcept {
  const collect::GpuCollector* gpus = collect::gpu_collector();
  if (gpus == nullptr) return;
  if (sink->nccl_launch != 0) gpus->end_launch();  // whose stop never came
  gpus->begin_launch(number);
  sink->nccl_launch = number;
}

int stop_event(void* handle) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  if (handle == nullptr || !is_tracing()) return kSuccess;
  const std::uint64_t number = own_number(handle);
  if (number == 0) return kSuccess;
  // Whether or not the window is still open.
  ThreadSink* sink = collect::present_thread_sink();
  if (sink != nullptr && sink->nccl_launch == number) [[unlikely]] {
    sink->nccl_launch = 0;
    collect::gpu_collector()->end_launch();
  }
  if (collect::is_capturing()) write_short(EventKind::kNcclStop, 0, number, stamp);
  return kSuccess;
}

int record_event_state(void* handle, int state, void*) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  if (handle == nullptr || !is_tracing() || !collect::is_capturing()) return kSuccess;
  const std::uint64_t number = own_number(handle);
  if (number != 0) write_short(EventKind::kNcclState, static_cast<std::uint32_t>(state), number, stamp);
  return kSuccess;
}

}  // namespace jaxprof::nccl
