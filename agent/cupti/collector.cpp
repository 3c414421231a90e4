#include "agent/cupti/collector.h"

#include <pthread.h>

#include "agent/collect/event_sink.h"
#include "agent/cupti/flusher.h"
#include "agent/cupti/gpu_clock.h"
#include "agent/cupti/handlers.h"

namespace jaxprof::cupti {

constinit Collector collector;

namespace {

std::atomic<bool> is_initialized{false};

// The child shares its parent's buffers and CUPTI's state, of which nothing works in it any more; CUPTI's own exit
// handler hangs there if it is asked to flush.
void in_forked_child() {
  collector.is_forked.store(true, std::memory_order_relaxed);
  collector.is_dead.store(true, std::memory_order_relaxed);
}

// Must CUPTI be subscribed to before the window opens? cudaProfilerStart is met by a callback, and graphs and the
// hardware's trace have to be known before the program makes its graphs and contexts.
bool must_take_early(const SessionPlan& plan) noexcept {
  return plan.cupti == CuptiPolicy::kEarly || plan.window.kind == WindowKind::kProfiler ||
         (plan.trace & (kTraceGraph | kTraceHardware)) != 0;
}

void register_strides() noexcept {
  for (const abi::Kind kind : {abi::kMemcpy, abi::kMemset, abi::kDriver, abi::kRuntime, abi::kDevice, abi::kContext,
                               abi::kConcurrentKernel, abi::kOverhead, abi::kMemcpyPeer, abi::kCudaEvent, abi::kStream,
                               abi::kSynchronization, abi::kExternalCorrelation, abi::kGraphTrace}) {
    spool::GpuRecordState state{};
    state.kind = static_cast<std::uint32_t>(kind);
    state.bytes = collector.strides.of(state.kind);
    collect::append_state(spool::StateKind::kGpuRecord, &state, sizeof state);
  }
}

void begin_span() noexcept {
  register_gpu_clock(&collector.subscriber);
  collector.spans.open(read_gpu_clock(&collector.subscriber));
}

void end_span() noexcept {
  register_gpu_clock(&collector.subscriber);
  collector.spans.close(read_gpu_clock(&collector.subscriber));
  collector.closed_takes.store(collector.pool.takes(), std::memory_order_release);
  collector.closed_ns.store(clock_ns(CLOCK_MONOTONIC), std::memory_order_release);
}

// Does the phase go from `seen` to `next`? It then went nowhere else.
bool goes(Phase seen, Phase next) noexcept {
  return collector.phase.compare_exchange_strong(seen, next, std::memory_order_acq_rel);
}

void open() noexcept {
  if (collector.is_dead.load(std::memory_order_relaxed)) return;
  for (;;) {
    switch (collector.phase.load(std::memory_order_acquire)) {
      case Phase::kLingering:
        begin_span();
        if (goes(Phase::kLingering, Phase::kOpen)) return;
        break;
      case Phase::kIdle:
      case Phase::kDraining:
        // The flusher leaves kinds alone from here on. All of the last segment has come where it could open again.
        if (!goes(Phase::kIdle, Phase::kOpen) && !goes(Phase::kDraining, Phase::kOpen)) break;
        if (start_collection()) return begin_span();
        collector.phase.store(Phase::kIdle, std::memory_order_release);
        return;
      case Phase::kClosing:
        if (wait_while_closing()) break;
        if (!goes(Phase::kClosing, Phase::kClosingToOpen)) break;
        return;  // the flusher opens when it comes back
      case Phase::kOpen:
      case Phase::kClosingToOpen:
        return;
    }
  }
}

void close() noexcept {
  if (collector.is_dead.load(std::memory_order_relaxed)) return;
  if (goes(Phase::kClosingToOpen, Phase::kClosing)) return;
  if (collector.phase.load(std::memory_order_acquire) != Phase::kOpen) return;
  const bool lingers = collector.keeps_enabled || collector.may_reopen;
  if (lingers) collector.spans.leave_out_others();
  end_span();
  if (lingers) {
    collector.phase.store(Phase::kLingering, std::memory_order_release);
  } else {
    stop_collection();
    collector.phase.store(Phase::kDraining, std::memory_order_release);
  }
  wake_flusher();
}

// NCCL launches on the calling thread, which is never one that runs a host callback: those may not call CUPTI.
void begin_launch(std::uint64_t handle) noexcept {
  if (collector.is_dead.load(std::memory_order_relaxed) ||
      collector.phase.load(std::memory_order_acquire) != Phase::kOpen)
    return;
  collector.launches.fetch_add(1, std::memory_order_relaxed);
  // The window may be open and the place not taken yet: the stack of the first interface is then another profiler's.
  collect::ThreadSink* sink = collect::present_thread_sink();
  if (sink == nullptr || !collector.subscriber.is_subscribed()) return;
  sink->has_pushed_launch = collector.subscriber.push_external(handle) == abi::kSuccess;
}

// Also where the window has closed in between: CUPTI's stack of the thread would keep it.
void end_launch() noexcept {
  collect::ThreadSink* sink = collect::present_thread_sink();
  if (sink == nullptr || !sink->has_pushed_launch) return;
  sink->has_pushed_launch = false;
  if (collector.is_dead.load(std::memory_order_relaxed) || !collector.subscriber.is_subscribed()) return;
  collector.subscriber.pop_external();
}

std::size_t fill_block(std::uint8_t* payload, std::size_t capacity, std::uint64_t* event_count) noexcept {
  return collector.filler.fill(payload, capacity, event_count);
}

constexpr collect::GpuCollector kHooks{open,          close,      ask_flusher_to_tell,   begin_launch,
                                       end_launch,    fill_block, ask_flusher_to_finish, is_flusher_finished,
                                       finish_flusher};

// The window opens with cudaProfilerStart: without CUPTI it never does.
void publish_unavailable(TextBuffer* why) noexcept {
  if (collect::session_plan().window.kind == WindowKind::kProfiler) {
    why->append("; so cudaProfilerStart is not seen, and the window cannot open");
  }
  publish_status(GpuMode::kUnavailable, why->c_str());
}

bool prepare(TextBuffer* why) noexcept {
  const SessionPlan& plan = collect::session_plan();
  if (!open_library(&collector.library, why)) return false;
  if (!collector.pool.open(plan.gpu_buffer_bytes, collector.library.capability.survives_refusal) ||
      !collector.encoder.open(collector.library.functions.get_callback_name, &collector.spans)) {
    why->append("no memory for its buffers");
    return false;
  }
  pthread_atfork(nullptr, nullptr, in_forked_child);
  collector.subscriber.use(collector.library);
  collector.filler.open(&collector.pool, &collector.strides, &collector.encoder, &collector.subscriber);
  collector.kinds.choose(plan.trace);
  collector.takes_early = must_take_early(plan);
  const bool repeats = plan.window.end == WindowEnd::kRepeat || plan.window.end == WindowEnd::kRepeatShutdown;
  collector.may_reopen = repeats && plan.window.repeat_count != 1;
  collector.keeps_enabled = (plan.trace & kTraceGraph) != 0 || collector.library.capability.hangs_when_disabled ||
                            (collector.may_reopen && collector.library.capability.miscounts_when_resumed);
  return true;
}

}  // namespace

bool take_place() noexcept {
  if (collector.subscriber.is_subscribed()) return true;
  TextBuffer note(collector.place_note, sizeof collector.place_note);
  if (!collector.subscriber.subscribe(on_callback, kBufferCallbacks, &note)) {
    publish_unavailable(&note);
    return false;
  }
  if (collector.only_watches) {
    watch_profiler(&collector.subscriber);
    publish_status(GpuMode::kNone, "only cudaProfilerStart and Stop are watched");
    return true;
  }
  if (collector.strides.probe(&collector.subscriber)) register_strides();
  if (const char* known = collector.library.capability.note; known != nullptr) note.append(known);
  watch_resources(&collector.subscriber);
  if (collect::session_plan().window.kind == WindowKind::kProfiler) watch_profiler(&collector.subscriber);
  collector.kinds.prepare(&collector.subscriber, collector.library, &note);
  publish_status(recording_mode(), note.c_str());
  return true;
}

bool start_collection() noexcept {
  if (collector.is_enabled.load(std::memory_order_acquire)) return true;
  if (!take_place()) return false;
  char text[kNoteBytes];
  TextBuffer note(text, sizeof text);
  note.append(collector.place_note);
  const std::size_t told_bytes = note.size();
  const bool is_enabled = collector.kinds.enable(&collector.subscriber, &note);
  if (note.size() > told_bytes) publish_status(is_enabled ? recording_mode() : GpuMode::kUnavailable, text);
  collector.is_enabled.store(is_enabled, std::memory_order_release);
  return is_enabled;
}

void stop_collection() noexcept {
  if (collector.is_enabled.exchange(false, std::memory_order_acq_rel)) collector.kinds.disable(&collector.subscriber);
}

void give_place_back() noexcept {
  if (collector.takes_early || !collector.subscriber.is_subscribed()) return;
  collector.subscriber.unsubscribe();
}

void initialize() noexcept {
  const SessionPlan& plan = collect::session_plan();
  collector.only_watches = (plan.trace & kTraceCuda) == 0;
  if (plan.cupti == CuptiPolicy::kOff || (collector.only_watches && plan.window.kind != WindowKind::kProfiler)) return;
  if (is_initialized.exchange(true, std::memory_order_acq_rel)) return;
  char text[kNoteBytes];
  TextBuffer why(text, sizeof text);
  if (!prepare(&why)) return publish_unavailable(&why);
  if (collector.only_watches) {
    take_place();
    return;
  }
  if (!start_flusher()) {
    why.append("no thread to ask CUPTI for records");
    return publish_unavailable(&why);
  }
  // Graphs must be known before they are instantiated, so their kinds are enabled outside of the window too.
  if (collector.takes_early && take_place() && (plan.trace & kTraceGraph) != 0) {
    collector.spans.leave_out_others();
    start_collection();
  }
  collect::set_gpu_collector(&kHooks);
  collector.is_ready.store(true, std::memory_order_release);
  wake_flusher();
}

}  // namespace jaxprof::cupti
