// What threads keep to themselves, and their rings. Programs have thousands of threads of which few are ever worth an
// event: a thread that calls us gets some kilobytes, its ring comes with its first event and grows when it has many,
// and rings of threads that have ended are used again once they are drained. All of it runs on the thread itself.
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

// A thread that fills half of its small region in less gets the large one, so that it wakes the drain thread seldom.
constexpr std::int64_t kBusyNs = 20'000'000;

// The thread ends. Whatever it still calls begins anew.
void close_thread_sink(void* value) {
  auto* sink = static_cast<ThreadSink*>(value);
  detail::thread_sink = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (session.is_forked_child.load(std::memory_order_relaxed)) return;
  if (sink->ring != nullptr) sink->ring->state.store(spool::RingState::kClosed, std::memory_order_release);
  munmap(sink, sizeof *sink);
}

// A ring whose thread has ended and whose events are written, or a new one; null if there is neither. Under the lock.
spool::RingHeader* take_ring_locked() noexcept {
  const std::uint32_t count = session.ring_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    spool::RingHeader* ring = session.rings[i].load(std::memory_order_relaxed);
    if (ring->state.load(std::memory_order_acquire) == spool::RingState::kFree) return ring;
  }
  if (count >= kMaxThreadRings) return nullptr;
  const std::uint64_t capacity = session.page->plan.ring_bytes;
  const std::uint64_t small_capacity = capacity > kSmallRingBytes ? kSmallRingBytes : 0;
  void* segment =
      session.memory.add_segment(spool::SegmentKind::kRing, spool::ring_segment_bytes(small_capacity, capacity));
  if (segment == nullptr) return nullptr;
  auto* ring = static_cast<spool::RingHeader*>(segment);
  ring->capacity = capacity;
  ring->small_capacity = small_capacity;
  ring->grown_at.store(small_capacity != 0 ? spool::kNotGrown : 0, std::memory_order_relaxed);
  session.rings[count].store(ring, std::memory_order_release);
  session.ring_count.store(count + 1, std::memory_order_release);
  return ring;
}

bool has_grown(const spool::RingHeader& ring) noexcept {
  return ring.grown_at.load(std::memory_order_relaxed) != spool::kNotGrown;
}

void use_region_of(ThreadSink* sink, spool::RingHeader* ring) noexcept {
  sink->data = spool::segment_data(ring) + (has_grown(*ring) ? ring->small_capacity : 0);
  sink->mask = (has_grown(*ring) ? ring->capacity : ring->small_capacity) - 1;
}

// From now on the thread writes to the large region. The consumer learns it with the next head.
bool grow(ThreadSink* sink) noexcept {
  if (has_grown(*sink->ring)) return false;
  sink->ring->grown_at.store(sink->head, std::memory_order_relaxed);
  use_region_of(sink, sink->ring);
  return true;
}

void start_ring(ThreadSink* sink, spool::RingHeader* ring) noexcept {
  use_region_of(sink, ring);
  sink->head = ring->head.load(std::memory_order_relaxed);
  sink->cached_tail = sink->head;
  ring->thread.store(sink->thread, std::memory_order_relaxed);
  ring->state.store(spool::RingState::kActive, std::memory_order_release);
  sink->ring = ring;
}

bool attach_ring(ThreadSink* sink) noexcept {
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
  if (now_ns < next_try_ns.load(std::memory_order_relaxed)) return false;
  const int saved_errno = errno;
  if (session.state_log.lock().lock()) {
    if (spool::RingHeader* ring = take_ring_locked(); ring != nullptr) start_ring(sink, ring);
    session.state_log.lock().unlock();
  }
  if (sink->ring == nullptr) {
    next_try_ns.store(now_ns + kRetryNs, std::memory_order_relaxed);
  } else {
    spool::ThreadState state{};
    state.thread = sink->thread;
    state.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    append_state(spool::StateKind::kThread, &state, sizeof state);
  }
  errno = saved_errno;
  return sink->ring != nullptr;
}

bool is_window_open() noexcept {
  const std::uint32_t segment = detail::capture.load(std::memory_order_relaxed);
  return segment != 0 && segment != detail::kCaptureOver;
}

}  // namespace

bool watch_thread_ends() noexcept {
  return pthread_key_create(&thread_end_key, close_thread_sink) == 0;
}

namespace detail {

ThreadSink* open_thread_sink() noexcept {
  if (session.state.load(std::memory_order_acquire) != SessionState::kRecording) return nullptr;
  const int saved_errno = errno;
  void* memory = mmap(nullptr, sizeof(ThreadSink), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    errno = saved_errno;
    if (is_window_open()) count_drop(Drop::kNoThreadRing);
    return nullptr;
  }
  madvise(memory, sizeof(ThreadSink), MADV_NOHUGEPAGE);  // neighbours would become one page of 2 MiB, all of it memory
  auto* sink = static_cast<ThreadSink*>(memory);
  sink->mask = UINT64_MAX;
  sink->thread = session.thread_count.fetch_add(1, std::memory_order_relaxed) + 1;
  thread_sink = sink;
  pthread_setspecific(thread_end_key, sink);
  errno = saved_errno;
  return sink;
}

bool make_room(ThreadSink* sink, std::uint64_t bytes) noexcept {
  if (sink->ring == nullptr && !attach_ring(sink)) {
    count_drop(Drop::kNoThreadRing);
    return false;
  }
  sink->cached_tail = sink->ring->tail.load(std::memory_order_acquire);
  if (has_room(*sink, span_of(*sink, bytes).needed)) return true;
  if (grow(sink) && has_room(*sink, span_of(*sink, bytes).needed)) return true;
  count_drop(Drop::kRingFull);
  return false;
}

void relieve(ThreadSink* sink) noexcept {
  sink->cached_tail = sink->ring->tail.load(std::memory_order_acquire);
  const std::uint64_t half = (sink->mask + 1) / 2;
  if (sink->head - sink->cached_tail <= half || sink->head < sink->next_relief) return;
  sink->next_relief = sink->head + half;  // the drain thread has been told by then
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
  const bool is_busy = now_ns - sink->relieved_ns < kBusyNs;
  sink->relieved_ns = now_ns;
  if (is_busy && grow(sink)) return;
  const int saved_errno = errno;
  wake_drain_thread();
  errno = saved_errno;
}

}  // namespace detail
}  // namespace jaxprof::collect
