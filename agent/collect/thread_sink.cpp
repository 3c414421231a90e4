// Rings of threads: made on a thread's first event, given back when it ends, used again when they are drained.
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "agent/collect/drain.h"
#include "agent/collect/session.h"

namespace jaxprof::collect {

namespace detail {
constinit thread_local ThreadSink* thread_sink __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace detail

namespace {

pthread_key_t thread_end_key;

// After a thread got no ring, none is asked for until then (CLOCK_MONOTONIC_COARSE): every event of every such thread
// comes through here.
constexpr std::int64_t kRetryNs = 200'000'000;
std::atomic<std::int64_t> next_try_ns{0};

void close_thread_sink(void* value) {
  auto* sink = static_cast<ThreadSink*>(value);
  detail::thread_sink = nullptr;
  if (session.is_forked_child.load(std::memory_order_relaxed)) return;
  sink->ring->state.store(spool::RingState::kClosed, std::memory_order_release);
}

// A ring whose thread has ended and whose events are written, or a new one. Under the lock.
std::uint32_t take_ring_locked() noexcept {
  const std::uint32_t count = session.ring_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    spool::RingHeader* ring = session.rings[i].load(std::memory_order_relaxed);
    if (ring->state.load(std::memory_order_acquire) == spool::RingState::kFree) return i;
  }
  if (count >= kMaxThreadRings) return kMaxThreadRings;
  const std::uint64_t capacity = session.page->plan.ring_bytes;
  void* segment = session.memory.add_segment(spool::SegmentKind::kRing, sizeof(spool::RingHeader) + capacity);
  if (segment == nullptr) return kMaxThreadRings;
  void* sink = mmap(nullptr, sizeof(ThreadSink), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sink == MAP_FAILED) return kMaxThreadRings;
  auto* ring = static_cast<spool::RingHeader*>(segment);
  ring->capacity = capacity;
  session.sinks[count] = static_cast<ThreadSink*>(sink);
  session.rings[count].store(ring, std::memory_order_release);
  session.ring_count.store(count + 1, std::memory_order_release);
  return count;
}

ThreadSink* start_sink_locked(std::uint32_t index) noexcept {
  spool::RingHeader* ring = session.rings[index].load(std::memory_order_relaxed);
  ThreadSink* sink = session.sinks[index];
  std::memset(static_cast<void*>(sink), 0, sizeof *sink);
  sink->ring = ring;
  sink->data = spool::segment_data(ring);
  sink->mask = ring->capacity - 1;
  sink->head = ring->head.load(std::memory_order_relaxed);
  sink->cached_tail = sink->head;
  sink->thread = session.thread_count.fetch_add(1, std::memory_order_relaxed) + 1;
  ring->thread.store(sink->thread, std::memory_order_relaxed);
  ring->state.store(spool::RingState::kActive, std::memory_order_release);
  return sink;
}

}  // namespace

bool watch_thread_ends() noexcept {
  return pthread_key_create(&thread_end_key, close_thread_sink) == 0;
}

namespace detail {

ThreadSink* open_thread_sink() noexcept {
  if (session.state.load(std::memory_order_acquire) != SessionState::kRecording) return nullptr;
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
  if (now_ns < next_try_ns.load(std::memory_order_relaxed)) {
    count_drop(Drop::kNoThreadRing);
    return nullptr;
  }
  const int saved_errno = errno;
  ThreadSink* sink = nullptr;
  if (session.state_log.lock().lock()) {
    const std::uint32_t index = take_ring_locked();
    if (index < kMaxThreadRings) sink = start_sink_locked(index);
    session.state_log.lock().unlock();
  }
  if (sink == nullptr) {
    next_try_ns.store(now_ns + kRetryNs, std::memory_order_relaxed);
    count_drop(Drop::kNoThreadRing);
  } else {
    spool::ThreadState state{};
    state.thread = sink->thread;
    state.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    append_state(spool::StateKind::kThread, &state, sizeof state);
    thread_sink = sink;
    pthread_setspecific(thread_end_key, sink);
  }
  errno = saved_errno;
  return sink;
}

bool make_room(ThreadSink* sink, std::uint64_t bytes) noexcept {
  sink->cached_tail = sink->ring->tail.load(std::memory_order_acquire);
  if (sink->head + bytes - sink->cached_tail <= sink->mask + 1) return true;
  count_drop(Drop::kRingFull);
  return false;
}

void wake_drain(ThreadSink* sink) noexcept {
  sink->cached_tail = sink->ring->tail.load(std::memory_order_acquire);
  if (sink->head - sink->cached_tail <= (sink->mask + 1) / 2) return;
  const int saved_errno = errno;
  wake_drain_thread();
  errno = saved_errno;
}

}  // namespace detail
}  // namespace jaxprof::collect
