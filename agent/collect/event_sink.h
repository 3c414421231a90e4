// All that a collector (agent/nvtx, agent/nccl, agent/cupti) knows of the rest of the agent: attach once, register
// state, write events. An event is written in place into the calling thread's ring and committed by one release store;
// there is no system call, lock or allocation on that path. Whatever goes wrong raises a drop counter and nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/base/clocks.h"
#include "agent/contract/session_page.h"
#include "agent/spool/event_record.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/state_record.h"

namespace jaxprof::collect {

inline constexpr std::size_t kMaxDomains = 4096;

// The ranges that a thread has open in one NVTX domain.
struct OpenRanges {
  std::uint16_t depth = 0;
  std::uint16_t unseen_ends = 0;  // of pops that could not be recorded: nvtx_field::kPopUnseenEnds, not yet told
  std::uint16_t segment = 0;      // the last in which the thread called this domain, its low bits; 0: in none
  std::uint16_t floor = 0;        // its depth when that segment began for it: ranges below were pushed before
};

// The range at `depth` was popped and that is not recorded: the next push or pop that is tells it.
inline void note_unseen_end(OpenRanges* open, std::uint16_t depth) noexcept {
  if (open->unseen_ends == 0 || depth < open->unseen_ends) open->unseen_ends = static_cast<std::uint16_t>(depth + 1);
}

// A range that a thread has pushed: its domain and depth in one word, never kNoPlace.
inline constexpr std::uint32_t kNoPlace = 0;
constexpr std::uint32_t range_place(std::uint16_t domain, std::uint16_t depth) noexcept {
  static_assert(kMaxDomains < 0xffff);
  return (domain + 1U) << 16 | depth;
}

// What a thread keeps to itself, used by that thread only and gone with it. Made when it first calls a collector,
// window or not, for the depth of its ranges and its steps; the ring comes with its first event. Lies in fresh pages,
// of which the tail of `ranges` is seldom touched: whoever makes it sets what is not 0.
struct ThreadSink {
  std::uint8_t* data = nullptr;             // of the ring's region that is written to
  std::uint64_t mask = UINT64_MAX;          // the region's capacity - 1; without a ring this, so that there is no room
  std::uint64_t head = 0;                   // == ring->head
  std::uint64_t cached_tail = 0;            // <= ring->tail
  std::uint64_t pending_bytes = 0;          // of the record between begin() and commit()
  std::uint64_t next_relief = 0;            // the head before which the drain thread is not woken again
  std::int64_t relieved_ns = 0;             // when it was last, CLOCK_MONOTONIC_COARSE
  spool::RingHeader* ring = nullptr;        // null: it has none yet
  std::uint32_t thread = 0;                 // number of the thread in the spool
  bool is_busy = false;                     // in begin(), and until commit(): a signal handler must not start another
  std::uint32_t pushed_step = kNoPlace;     // range_place() of the push whose range is the open step
  std::uint64_t handle_count = 0;           // for unique numbers: NVTX range ids, NCCL handles
  std::uint64_t step_count = 0;             // steps so far, where each thread counts its own (agent/nvtx/steps.h)
  std::uint32_t pushed_content = kNoPlace;  // range_place() of the push whose range the window is a window of
  std::uint64_t content_count = 0;          // as step_count, of what the window counts where that is not the steps
  std::uint64_t content_mark = 0;           // what the end of pushed_content means (agent/nvtx/content.h)
  std::uint64_t nccl_launch = 0;            // the NCCL launch whose begin_launch() awaits its end_launch(); 0: none
  bool has_pushed_launch = false;           // begin_launch() has told CUPTI, and end_launch() is to take it back
  OpenRanges ranges[kMaxDomains] = {};      // by domain
};

namespace detail {
// Written by session.cpp and window.cpp. 0: nothing is recorded, and nothing is lost by that (not attached, or outside
// the window); kCaptureOver: what comes is lost (after the end, in a forked child); else 1 + the number of the segment
// that events go to.
extern std::atomic<std::uint32_t> capture;
inline constexpr std::uint32_t kCaptureOver = UINT32_MAX;
extern std::atomic<ClockId> event_clock;
// A bit a string: do messages of this text mark steps? Set before the string's number is known to anyone.
inline constexpr std::uint32_t kStringBits = 18;
extern std::atomic<std::uint64_t> step_messages[(1U << kStringBits) / 64];
// The same for what the window is a window of (WindowPlan::marker).
extern std::atomic<std::uint64_t> window_messages[(1U << kStringBits) / 64];
extern constinit thread_local ThreadSink* thread_sink __attribute__((tls_model("initial-exec")));
ThreadSink* open_thread_sink() noexcept;
// Room for a record of `bytes`, by a look at the tail, a first ring or the ring's large region; false if there is none,
// which is counted. `data`, `mask` and `head` may change.
bool make_room(ThreadSink* sink, std::uint64_t bytes) noexcept;
void relieve(ThreadSink* sink) noexcept;  // more than half of the ring is taken
void count_unrecorded() noexcept;

// What a record takes of the ring: with the padding before it, if it does not fit before the region's end.
struct Span {
  std::uint64_t at = 0;      // in the region, of the record or the padding
  std::uint64_t to_end = 0;  // of the region
  std::uint64_t needed = 0;
};
inline Span span_of(const ThreadSink& sink, std::uint64_t bytes) noexcept {
  const std::uint64_t at = sink.head & sink.mask;
  const std::uint64_t to_end = sink.mask + 1 - at;
  return {at, to_end, bytes <= to_end ? bytes : to_end + bytes};
}
inline bool has_room(const ThreadSink& sink, std::uint64_t needed) noexcept {
  return sink.head + needed - sink.cached_tail <= sink.mask + 1;
}
}  // namespace detail

// Called by an entry point: attaches the process to its task's session the first time, and notes that `hook` was used.
// True if the process records. Any thread; never fails loudly.
bool attach(HookBit hook, std::uint32_t detail) noexcept;

// Raises a drop counter of this process. Any thread, any time.
void count_drop(Drop drop, std::uint64_t count = 1) noexcept;

// The string's number, registering it first if it is new: kLostString if it could not be kept. Strings beyond
// kMaxStringBytes are cut. A known string costs a hash and a comparison; a new one takes a lock that is never waited
// for longer than a few microseconds. `text` need not be terminated.
inline constexpr std::size_t kMaxStringBytes = 65535;
spool::StringId intern(const char* text, std::size_t length) noexcept;
spool::StringId intern(const char* text) noexcept;  // null: kNoString

// How steps are marked (--step-marker). Not before attach().
const StepMarker& step_marker() noexcept;

namespace detail {
inline bool has_bit(const std::atomic<std::uint64_t>* bits, spool::StringId id) noexcept {
  const std::uint32_t bit = id & ((1U << kStringBits) - 1);
  return (bits[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
}
}  // namespace detail

// Do messages with this text mark steps, or what the window is a window of? A string that could not be kept does not.
inline bool marks_step(spool::StringId id) noexcept {
  return detail::has_bit(detail::step_messages, id);
}
inline bool marks_window(spool::StringId id) noexcept {
  return detail::has_bit(detail::window_messages, id);
}

// Appends a record to the registration log: `fixed` starts with a StateHeader, which is filled in here, and `tail`
// follows it. False if the log is full. Not for the event path.
bool append_state(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void* tail = nullptr,
                  std::size_t tail_bytes = 0) noexcept;

// What the wrapper decided. Not before attach().
const SessionPlan& session_plan() noexcept;

// The slot of this process in the session page; null before attach.
ProcessSlot* process_slot() noexcept;

// 16 bits that tell this process's handles from another's, never 0.
std::uint16_t process_nonce() noexcept;

inline std::uint64_t read_stamp() noexcept {
  return read_event_clock(detail::event_clock.load(std::memory_order_relaxed));
}

// 1 + the number of the segment that events are to be written to now; 0: to none; kOver: to none any more. Where the
// event would be kept, count_lost() is to be called then.
inline constexpr std::uint32_t kOver = detail::kCaptureOver;
inline std::uint32_t segment_or_over() noexcept {
  return detail::capture.load(std::memory_order_relaxed);
}
// Counts an event that would have been kept, had it not come after the end, or in a forked child.
inline void count_lost() noexcept {
  detail::count_unrecorded();
}

// The same in one, for events that are kept whenever the window is open: 0 after the end too, when the event is
// counted.
inline std::uint32_t capturing_segment() noexcept {
  const std::uint32_t segment = segment_or_over();
  if (segment != kOver) [[likely]]
    return segment;
  count_lost();
  return 0;
}
inline bool is_capturing() noexcept {
  return capturing_segment() != 0;
}

// The calling thread's sink; null if it has none and cannot get one, which is counted where the window is open.
inline ThreadSink* thread_sink() noexcept {
  ThreadSink* sink = detail::thread_sink;
  return sink != nullptr ? sink : detail::open_thread_sink();
}

// The same, but null where it has none yet.
inline ThreadSink* present_thread_sink() noexcept {
  return detail::thread_sink;
}

// Starts a record and returns its fields, which the caller fills (`field_count` words, then `payload_bytes`, a multiple
// of 8); null if it had to be dropped, which is counted. commit() makes it visible.
inline std::uint64_t* begin(ThreadSink* sink, spool::EventKind kind, std::uint32_t id, std::uint64_t stamp,
                            std::uint32_t field_count, std::uint32_t payload_bytes = 0) noexcept {
  if (sink->is_busy) [[unlikely]] {
    count_drop(Drop::kRingFull);
    return nullptr;
  }
  sink->is_busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t bytes = sizeof(spool::EventHeader) + 8 * field_count + payload_bytes;
  detail::Span span = detail::span_of(*sink, bytes);
  if (!detail::has_room(*sink, span.needed)) [[unlikely]] {
    if (!detail::make_room(sink, bytes)) {
      sink->is_busy = false;
      return nullptr;
    }
    span = detail::span_of(*sink, bytes);
  }
  std::uint64_t at = span.at;
  if (bytes > span.to_end) [[unlikely]] {
    // The first word of a header is all that padding has, and all that the consumer reads of it.
    auto* padding = reinterpret_cast<std::uint64_t*>(sink->data + at);
    *padding = span.to_end | static_cast<std::uint64_t>(spool::EventKind::kPadding) << 16;
    at = 0;
  }
  sink->pending_bytes = span.needed;
  auto* header = reinterpret_cast<spool::EventHeader*>(sink->data + at);
  header->bytes = static_cast<std::uint16_t>(bytes);
  header->kind = static_cast<std::uint8_t>(kind);
  header->field_count = static_cast<std::uint8_t>(field_count);
  header->id = id;
  header->stamp = stamp;
  return reinterpret_cast<std::uint64_t*>(header + 1);
}

inline void commit(ThreadSink* sink) noexcept {
  sink->head += sink->pending_bytes;
  sink->ring->head.store(sink->head, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  sink->is_busy = false;
  if (sink->head - sink->cached_tail > (sink->mask + 1) / 2) [[unlikely]]
    detail::relieve(sink);
}

// ---- windows (agent/contract/window_plan.h). While one is open, events are kept; each opening is a segment.

// The program called cudaProfilerStart or Stop. Any thread, inside a CUPTI callback too: no lock is held while it calls
// the collector of GPUs, and a second caller does not wait for the first.
void profiler_started() noexcept;
void profiler_stopped() noexcept;

// What the window is a window of began: 1 + the number of the segment that this opened, 0 if it opened none. `cause` is
// kRange or kStep, `step` 1 + the step's number. Any thread, before what begins is written.
std::uint32_t content_began(spool::WindowCause cause, std::uint64_t step) noexcept;
// It ended, after its end was written. `segment`: closes no other than this one, as content_began() gave it; 0: any.
void content_ended(spool::WindowCause cause, std::uint64_t step, std::uint32_t segment = 0) noexcept;

// ---- GPUs. agent/cupti fills this in; nobody else knows CUPTI.
struct GpuCollector {
  // The window opens, or has closed: on the thread that does it, with no lock held that a callback of CUPTI could want.
  // Never twice in a row the same, never two of them at once. An opening that ends before it was told may be skipped.
  void (*open)() noexcept;
  void (*close)() noexcept;
  // The window changed on a thread that may not do so: the drain thread, which has none of the process's descriptors,
  // and so none of the driver's; or exit(), which may not wait for CUPTI. A thread of the collector's own is to call
  // tell_gpu_collector(). Does not wait. Any thread, any number of times.
  void (*window_changed)() noexcept;
  // Brackets NCCL's launches (KernelLaunch events): what the calling thread launches in between belongs to `handle`.
  // Always in pairs, never nested.
  void (*begin_launch)(std::uint64_t handle) noexcept;
  void (*end_launch)() noexcept;
  // Encodes what CUPTI has completed into one payload of a kActivities block (event_codec.h) and returns its bytes; 0:
  // there is nothing. Registers what the records refer to before it returns. Drain thread; never blocks.
  std::size_t (*fill_block)(std::uint8_t* payload, std::size_t capacity, std::uint64_t* event_count) noexcept;
  // The process ends, or its recording: asks CUPTI for all that it still holds, which has `timeout_ms` to come from the
  // first time that this is called. Does not wait. Any thread.
  void (*ask_finish)(std::uint32_t timeout_ms) noexcept;
  // Has that come, or is its time over? What is missing then has been counted. Any thread.
  bool (*is_finished)() noexcept;
  // Asks and waits. Not on the drain thread: what comes is complete only once that has read it.
  void (*finish)(std::uint32_t timeout_ms) noexcept;
};

// Makes `collector` known, once a process; opens it if the window is open. Any thread.
void set_gpu_collector(const GpuCollector* collector) noexcept;
// Opens or closes it as the window is by now, unless another thread is about to. A thread that shares the process's
// descriptors.
void tell_gpu_collector() noexcept;
// Null as long as there is none.
const GpuCollector* gpu_collector() noexcept;

// Wakes the drain thread: there is something for fill_block(). Any thread, inside a CUPTI callback too.
void wake_for_activities() noexcept;

}  // namespace jaxprof::collect
