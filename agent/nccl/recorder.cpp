#include "agent/nccl/recorder.h"

#include "agent/collect/event_sink.h"
#include "agent/nccl/communicators.h"
#include "agent/nccl/descriptors.h"
#include "agent/nccl/handle.h"

namespace jaxprof::nccl {
namespace {

using collect::ThreadSink;
using spool::EventKind;
using spool::NcclEvent;
namespace field = spool::nccl_field;

// No thread gives this number to an event of its own.
constexpr std::uint64_t kUnrecorded = kNumberMask;

// What the thread launches until end_launch() belongs to the launch event `number`. KernelLaunch only: other events may
// come on CUDA's callback thread, where CUPTI must not be called.
void begin_launch(ThreadSink* sink, std::uint64_t number) noexcept {
  const collect::GpuCollector* gpus = collect::gpu_collector();
  if (gpus == nullptr) return;
  if (sink->nccl_launch != 0) gpus->end_launch();  // whose stop never came
  gpus->begin_launch(number);
  sink->nccl_launch = number;
}

// Whether or not the window is still open.
void end_launch(std::uint64_t number) noexcept {
  ThreadSink* sink = collect::present_thread_sink();
  if (sink == nullptr || sink->nccl_launch != number) return;
  sink->nccl_launch = 0;
  collect::gpu_collector()->end_launch();
}

void write_short(EventKind kind, std::uint32_t id, std::uint64_t number, std::uint64_t stamp) noexcept {
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return;
  std::uint64_t* fields = collect::begin(sink, kind, id, stamp, 1);
  if (fields == nullptr) return;
  fields[field::kHandle] = number;
  collect::commit(sink);
}

}  // namespace

std::uint64_t own_number(const void* handle) noexcept {
  if (handle == nullptr) return 0;
  const std::uint64_t number = handle_number(collect::process_nonce(), handle);
  if (number == 0) collect::count_drop(Drop::kForeignHandle);
  return number != kUnrecorded ? number : 0;
}

// ProxyCtrl floods and says nothing of a call; it comes only where someone rewrites the mask from outside.
bool wants(NcclEvent event) noexcept {
  return event != NcclEvent::kProxyCtrl && collect::is_capturing();
}

void* start(const void* context, const Description& description, std::uint64_t stamp) noexcept {
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return start_unrecorded();
  const std::uint64_t number = static_cast<std::uint64_t>(sink->thread) << 36 | ++sink->handle_count;
  std::uint64_t* fields = collect::begin(sink, EventKind::kNcclStart, static_cast<std::uint32_t>(description.event),
                                         stamp, static_cast<std::uint32_t>(description.field_count));
  if (fields != nullptr) {
    fields[field::kHandle] = number;
    fields[field::kCommunicator] = communicator_number(context);
    fields[field::kParent] = description.parent;
    for (std::size_t i = kCommonFields; i < description.field_count; ++i) fields[i] = description.fields[i];
    collect::commit(sink);
  }
  if (description.event == NcclEvent::kKernelLaunch) begin_launch(sink, number);
  return make_handle(collect::process_nonce(), number);
}

void* start_unrecorded() noexcept {
  return make_handle(collect::process_nonce(), kUnrecorded);
}

int stop_event(void* handle) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  if (handle == nullptr || !is_tracing()) return kSuccess;
  const std::uint64_t number = own_number(handle);
  if (number == 0) return kSuccess;
  end_launch(number);
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
