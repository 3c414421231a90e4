#include "agent/collect/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "agent/base/env.h"
#include "agent/base/file_size_limit.h"
#include "agent/collect/drain.h"
#include "agent/contract/local_layout.h"
#include "agent/spool/identity.h"

// Registers a function for exit() and, unlike atexit in a shared object, needs no static part of the C library.
extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* dso) noexcept;

namespace jaxprof::collect {

constinit Session session;

namespace detail {
std::atomic<std::uint32_t> capture{0};
std::atomic<ClockId> event_clock{ClockId::kMonotonicRaw};
constinit thread_local ThreadSink* thread_sink __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace detail

namespace {

constexpr std::uint32_t kExitMilliseconds = 2000;
// Less is no use: a spool grows by megabytes a minute, and its first blocks are written by the program's own thread.
constexpr std::uint64_t kLeastFileBytes = 16 << 20;

pthread_key_t thread_end_key;
std::atomic<bool> is_forked_child{false};
std::atomic<long> attaching_tid{0};

// ---- threads ----------------------------------------------------------------------------------------------------

void close_thread_sink(void* value) {
  auto* sink = static_cast<ThreadSink*>(value);
  detail::thread_sink = nullptr;
  if (is_forked_child.load(std::memory_order_relaxed)) return;
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
  void* sink = mmap(nullptr, sizeof(ThreadSink), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (segment == nullptr || sink == MAP_FAILED) return kMaxThreadRings;
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

// ---- fork -------------------------------------------------------------------------------------------------------

// Runs in the child with one thread left. It shares the parent's rings, slot and spool, so it must not write to them;
// no lock may be taken here, for a thread that no longer exists may hold it.
void in_forked_child() {
  is_forked_child.store(true, std::memory_order_relaxed);
  detail::capture.store(0, std::memory_order_relaxed);
  detail::thread_sink = nullptr;
  session.state.store(SessionState::kDead, std::memory_order_relaxed);
}

// ---- end --------------------------------------------------------------------------------------------------------

void at_exit(void*) {
  if (is_forked_child.load(std::memory_order_relaxed)) return;
  SessionState expected = SessionState::kRecording;
  if (!session.state.compare_exchange_strong(expected, SessionState::kEnded)) return;
  detail::capture.store(0, std::memory_order_release);
  finish_drain(kExitMilliseconds);
}

// ---- attach -----------------------------------------------------------------------------------------------------

bool give_up(SlotState state, const char* why, int error = 0) noexcept {
  TextBuffer note(session.slot->note, sizeof session.slot->note);
  note.append(why);
  if (error != 0) {
    note.append(": errno ");
    note.append_number(static_cast<std::uint64_t>(error));
  }
  session.slot->state.store(state, std::memory_order_release);
  return false;
}

void copy_text(char* target, std::size_t capacity, const char* text) noexcept {
  TextBuffer(target, capacity).append(text);
}

// Reads up to `capacity` bytes of a file of /proc; its length.
std::size_t read_proc(const char* path, char* buffer, std::size_t capacity) noexcept {
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  std::size_t length = 0;
  while (length < capacity) {
    const ssize_t got = read(fd.get(), buffer + length, capacity - length);
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  return length;
}

std::int64_t time_namespace() noexcept {
  char target[64] = {};
  const ssize_t length = readlink("/proc/self/ns/time", target, sizeof target - 1);
  if (length <= 0) return -1;
  const char* digits = std::strchr(target, '[');
  std::uint64_t inode = 0;
  const char* end = digits != nullptr ? std::strchr(digits, ']') : nullptr;
  if (end == nullptr || !parse_decimal(digits + 1, static_cast<std::size_t>(end - digits - 1), &inode)) return -1;
  return static_cast<std::int64_t>(inode);
}

void write_identity(const RankIdentity& rank) noexcept {
  using spool::IdentityKey;
  static std::uint8_t buffer[spool::SpoolWriter::kHeadroom + 16384];
  spool::IdentityWriter out(buffer + spool::SpoolWriter::kHeadroom, sizeof buffer - spool::SpoolWriter::kHeadroom);
  const SessionPlan& plan = session.page->plan;
  const ProcessSlot& slot = *session.slot;
  out.text(IdentityKey::kRunId, plan.run.run_id);
  out.text(IdentityKey::kJobId, plan.run.job_id);
  out.text(IdentityKey::kStepId, plan.run.step_id);
  out.number(IdentityKey::kRestart, plan.run.restart);
  out.number(IdentityKey::kRank, rank.rank);
  out.number(IdentityKey::kWorldSize, rank.world_size);
  out.number(IdentityKey::kLocalRank, rank.local_rank);
  out.number(IdentityKey::kNodeIndex, rank.node_index);
  out.text(IdentityKey::kLauncher, launcher_name(rank.launcher));
  out.text(IdentityKey::kRankVariable, rank.rank_variable);
  out.text(IdentityKey::kHost, plan.host);
  out.text(IdentityKey::kBootId, plan.boot_id);
  out.number(IdentityKey::kPid, slot.pid);
  out.number(IdentityKey::kStartTicks, static_cast<std::int64_t>(slot.start_ticks));
  out.number(IdentityKey::kWrapperPid, plan.wrapper_pid);
  out.number(IdentityKey::kSlot, session.slot_index);
  out.text(IdentityKey::kStem, slot.stem);
  out.number(IdentityKey::kEventClock, static_cast<std::int64_t>(session.clock));
  out.text(IdentityKey::kVersion, JAXPROF_VERSION);
  out.number(IdentityKey::kTimeNamespace, time_namespace());
  out.number(IdentityKey::kUserId, static_cast<std::int64_t>(getuid()));
  out.number(IdentityKey::kAttachRealtimeNs, clock_ns(CLOCK_REALTIME));
  char path[1024] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) > 0) out.text(IdentityKey::kExecutable, path);
  static char command[4096];
  out.bytes(IdentityKey::kCommandLine, command, read_proc("/proc/self/cmdline", command, sizeof command));
  session.spool.write_block(spool::BlockKind::kIdentity, buffer, out.size());
}

// The first anchor: from here on every stamp of the spool can be placed.
void write_first_anchor() noexcept {
  const ClockAnchor anchor = take_anchor(session.clock);
  const spool::AnchorRecord record{anchor.counter, anchor.monotonic_raw_ns, anchor.realtime_ns, anchor.monotonic_ns,
                                   anchor.bracket};
  std::uint8_t buffer[spool::SpoolWriter::kHeadroom + sizeof record];
  std::memcpy(buffer + spool::SpoolWriter::kHeadroom, &record, sizeof record);
  session.spool.write_block(spool::BlockKind::kAnchors, buffer, sizeof record);
}

// "SPOOL/NAME" in `path`.
bool join_path(char (&path)[kPathBytes + 64], const char* name) noexcept {
  TextBuffer out(path, sizeof path);
  out.append(session.page->plan.spool_directory);
  out.append('/');
  out.append(name);
  return !out.is_truncated();
}

bool open_files(const RankIdentity& rank) noexcept {
  ProcessSlot& slot = *session.slot;
  if (!is_file_size_allowed(kLeastFileBytes)) {
    return give_up(SlotState::kFailed, "the process may not write files of 16 MiB (ulimit -f)");
  }
  append_local_name(session.slot_index, slot.pid, LocalFile::kSpool, slot.spool_name, sizeof slot.spool_name);
  append_local_name(session.slot_index, slot.pid, LocalFile::kRings, slot.ring_name, sizeof slot.ring_name);
  char path[kPathBytes + 64];
  if (!join_path(path, slot.ring_name)) return give_up(SlotState::kFailed, "the spool directory's name is too long");
  if (!session.memory.create(path, static_cast<std::uint32_t>(slot.pid)) ||
      !session.state_log.open(&session.memory, session.page->plan.state_log_bytes)) {
    return give_up(SlotState::kFailed, "cannot make the memory file", errno);
  }
  std::uint64_t file_id = 0;
  if (getrandom(&file_id, sizeof file_id, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof file_id)) {
    file_id = static_cast<std::uint64_t>(clock_ns(CLOCK_REALTIME)) ^ (static_cast<std::uint64_t>(slot.pid) << 40);
  }
  session.nonce = static_cast<std::uint16_t>(file_id | 1);
  join_path(path, slot.spool_name);
  if (!session.spool.create(path, file_id)) return give_up(SlotState::kFailed, "cannot make the spool", errno);
  write_identity(rank);
  write_first_anchor();
  if (session.spool.has_failed()) return give_up(SlotState::kFailed, "cannot write the spool", errno);
  slot.spool_bytes.store(session.spool.bytes(), std::memory_order_release);
  return true;
}

bool is_rank_selected(const RankIdentity& rank, const Env& env) noexcept {
  const SelectionResult result = is_selected(session.page->plan.selection, rank, env);
  if (result.selected == Selected::kYes) return true;
  if (result.selected == Selected::kNo) return give_up(SlotState::kNotSelected, "");
  TextBuffer note(session.slot->note, sizeof session.slot->note);
  note.append("the selection needs ");
  note.append(result.unknown);
  note.append(", which is not known here");
  session.slot->state.store(SlotState::kFailed, std::memory_order_release);
  return false;
}

void expand_stem(const RankIdentity& rank, const Env& env) noexcept {
  const SessionPlan& plan = session.page->plan;
  ProcessSlot& slot = *session.slot;
  TemplateValues values;
  values.rank = rank;
  values.run = &plan.run;
  values.host = plan.host;
  values.pid = slot.pid;
  TextBuffer stem(slot.stem, sizeof slot.stem);
  const TemplateReport report =
      expand_template(plan.stem_template, std::strlen(plan.stem_template), true, values, env, &stem);
  copy_text(slot.unset_variable, sizeof slot.unset_variable, report.unset_variable);
}

// All the work of the first attach; true if the process records from now on.
bool start_session() noexcept {
  const Env env;
  const char* path = env.get(kSessionVariable);
  if (path == nullptr) return false;
  session.page = map_session_page(path);
  if (session.page == nullptr) return false;
  session.slot = claim_slot(session.page, &session.slot_index);
  if (session.slot == nullptr) return false;
  ProcessSlot& slot = *session.slot;
  slot.pid = static_cast<std::int32_t>(getpid());
  slot.start_ticks = process_start_ticks(slot.pid);
  const RankIdentity rank = resolve_process_rank(session.page->plan, env);
  slot.rank = rank;
  copy_text(slot.rank_variable, sizeof slot.rank_variable, rank.rank_variable);
  if (!is_rank_selected(rank, env)) return false;
  expand_stem(rank, env);
  session.clock = choose_event_clock();
  detail::event_clock.store(session.clock, std::memory_order_relaxed);
  if (!open_files(rank)) return false;
  if (pthread_key_create(&thread_end_key, close_thread_sink) != 0 ||
      pthread_atfork(nullptr, nullptr, in_forked_child) != 0 || __cxa_atexit(at_exit, nullptr, nullptr) != 0) {
    return give_up(SlotState::kFailed, "the process has no thread key or exit handler left");
  }
  if (!start_drain()) return give_up(SlotState::kFailed, "cannot start a thread", errno);
  slot.state.store(SlotState::kRecording, std::memory_order_release);
  return true;
}

SessionState settled_state() noexcept {
  SessionState state = session.state.load(std::memory_order_acquire);
  if (state == SessionState::kUnattached &&
      session.state.compare_exchange_strong(state, SessionState::kAttaching, std::memory_order_acq_rel)) {
    const int saved_errno = errno;
    attaching_tid.store(syscall(SYS_gettid), std::memory_order_relaxed);
    const bool is_recording = start_session();
    session.state.store(is_recording ? SessionState::kRecording : SessionState::kDead, std::memory_order_release);
    if (is_recording && session.page->plan.capture_events != 0) detail::capture.store(1, std::memory_order_release);
    errno = saved_errno;
  }
  while ((state = session.state.load(std::memory_order_acquire)) == SessionState::kAttaching) {
    // A signal handler that interrupted the attach would wait for itself.
    if (attaching_tid.load(std::memory_order_relaxed) == syscall(SYS_gettid)) return SessionState::kDead;
    sched_yield();
  }
  return state;
}

}  // namespace

bool attach(HookBit hook, std::uint32_t detail_number) noexcept {
  if (settled_state() != SessionState::kRecording) return false;
  session.slot->hooks.fetch_or(hook, std::memory_order_relaxed);
  spool::HookState state{};
  state.hook = hook;
  state.detail = detail_number;
  state.stamp = read_stamp();
  append_state(spool::StateKind::kHook, &state, sizeof state);
  return true;
}

void count_drop(Drop drop, std::uint64_t count) noexcept {
  if (session.slot == nullptr) return;
  session.slot->drops[static_cast<int>(drop)].fetch_add(count, std::memory_order_relaxed);
}

// The registration log is shared with the parent: a forked child must not append to it.
spool::StringId intern(const char* text, std::size_t length) noexcept {
  if (is_forked_child.load(std::memory_order_relaxed)) return spool::kLostString;
  if (length > kMaxStringBytes) {
    length = kMaxStringBytes;
    count_drop(Drop::kPayloadTruncated);
  }
  const spool::StringId id = session.state_log.intern(text, length);
  if (id == spool::kLostString) count_drop(Drop::kStateLogFull);
  return id;
}

spool::StringId intern(const char* text) noexcept {
  return text != nullptr ? intern(text, std::strlen(text)) : spool::kNoString;
}

bool append_state(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void* tail,
                  std::size_t tail_bytes) noexcept {
  if (is_forked_child.load(std::memory_order_relaxed)) return false;
  if (session.state_log.append(kind, fixed, fixed_bytes, tail, tail_bytes)) return true;
  count_drop(Drop::kStateLogFull);
  return false;
}

ProcessSlot* process_slot() noexcept {
  return session.slot;
}

std::uint16_t process_nonce() noexcept {
  return session.nonce;
}

namespace detail {

void count_unrecorded() noexcept {
  if (is_forked_child.load(std::memory_order_relaxed)) {
    count_drop(Drop::kForkedChild);
  } else if (session.state.load(std::memory_order_relaxed) == SessionState::kEnded) {
    count_drop(Drop::kAfterEnd);
  }
}

ThreadSink* open_thread_sink() noexcept {
  if (session.state.load(std::memory_order_acquire) != SessionState::kRecording) return nullptr;
  const int saved_errno = errno;
  ThreadSink* sink = nullptr;
  if (session.state_log.lock().lock()) {
    const std::uint32_t index = take_ring_locked();
    if (index < kMaxThreadRings) sink = start_sink_locked(index);
    session.state_log.lock().unlock();
  }
  if (sink == nullptr) {
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
