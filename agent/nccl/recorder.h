// What the callbacks of all versions of NCCL's profiler interface have in common: an event is written, with a stamp and
// a number that is its handle, into the calling thread's ring. While the window is closed events get a handle that says
// so and leave no trace, nor a ring. NCCL calls from the user's thread, its launching thread, CUDA's callback thread
// and its proxy thread, all at once, and after finalize as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nccl/communicators.h"
#include "agent/nccl/handle.h"
#include "agent/spool/event_record.h"

namespace jaxprof::nccl {

// The fields that all starts begin with: handle, communicator, parent.
inline constexpr std::size_t kCommonFields = 3;
static_assert(spool::nccl_field::kHandle < kCommonFields && spool::nccl_field::kCommunicator < kCommonFields &&
              spool::nccl_field::kParent < kCommonFields);

namespace detail {
// No thread gives this number to an event of its own.
inline constexpr std::uint64_t kUnrecorded = kNumberMask;
extern std::atomic<std::uint64_t> shared_handle_count;  // of kSharedThread
}  // namespace detail

// The number of a handle that NCCL passed back, 0 for one of an event that was not recorded; one that is not this
// process's is counted and becomes 0.
inline std::uint64_t own_number(const void* handle) noexcept {
  if (handle == nullptr) return 0;
  const std::uint64_t number = handle_number(own_nonce(), handle);
  if (number == 0) [[unlikely]]
    collect::count_drop(Drop::kForeignHandle);
  return number != detail::kUnrecorded ? number : 0;
}

// Should an event of this type, which starts now, be recorded? ProxyCtrl floods and says nothing of a call; it comes
// only where someone rewrites the mask from outside.
inline bool wants(spool::NcclEvent event) noexcept {
  return event != spool::NcclEvent::kProxyCtrl && collect::is_capturing();
}

// The handle of an event that starts while it is not wanted, never null.
inline void* start_unrecorded() noexcept {
  return make_handle(own_nonce(), detail::kUnrecorded);
}

// What the thread launches until the event `number` stops belongs to it. KernelLaunch only: other events may come on
// CUDA's callback thread, where CUPTI must not be called.
void begin_launch(collect::ThreadSink* sink, std::uint64_t number) noexcept;

// Writes a start of `field_count` words; the result is its handle, never null. `fill` gets the words and sets those
// behind the common ones.
template <typename Fill>
void* start(const void* context, const void* parent, spool::NcclEvent event, std::uint64_t stamp,
            std::size_t field_count, const Fill& fill) noexcept {
  namespace field = spool::nccl_field;
  collect::ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return start_unrecorded();
  const std::uint64_t number = next_number(sink->thread, &sink->handle_count, &detail::shared_handle_count);
  std::uint64_t* fields = collect::begin(sink, spool::EventKind::kNcclStart, static_cast<std::uint32_t>(event), stamp,
                                         static_cast<std::uint32_t>(field_count));
  if (fields != nullptr) {
    fields[field::kHandle] = number;
    fields[field::kCommunicator] = communicator_number(context);
    fields[field::kParent] = own_number(parent);
    fill(fields);
    collect::commit(sink);
  }
  if (event == spool::NcclEvent::kKernelLaunch) begin_launch(sink, number);
  return make_handle(own_nonce(), number);
}

// The callbacks that are alike in all versions. Always 0, for success.
int stop_event(void* handle) noexcept;
int record_event_state(void* handle, int state, void* arguments) noexcept;

}  // namespace jaxprof::nccl
