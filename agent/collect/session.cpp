#include "agent/collect/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/env.h"
#include "agent/base/unique_fd.h"
#include "agent/collect/drain.h"
#include "agent/collect/limits.h"
#include "agent/collect/session_files.h"
#include "agent/collect/window.h"
#include "agent/contract/local_layout.h"
#include "agent/contract/stranger.h"

// Registers a function for exit() and, unlike atexit in a shared object, needs no static part of the C library.
extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* dso) noexcept;

namespace jaxprof::collect {

constinit Session session;

namespace detail {
std::atomic<std::uint32_t> capture{0};
std::atomic<ClockId> event_clock{ClockId::kMonotonicRaw};
}  // namespace detail

namespace {

constexpr std::uint32_t kExitMilliseconds = 2000;
static_assert(kGpuFinishMs < kExitMilliseconds);

std::atomic<long> attaching_tid{0};

// ---- fork -------------------------------------------------------------------------------------------------------

// Runs in the child with one thread left. It shares the parent's rings, slot and spool, so it must not write to them;
// no lock may be taken here, for a thread that no longer exists may hold it.
void in_forked_child() {
  session.is_forked_child.store(true, std::memory_order_relaxed);
  detail::capture.store(detail::kCaptureOver, std::memory_order_relaxed);
  detail::thread_sink = nullptr;
  session.state.store(SessionState::kDead, std::memory_order_relaxed);
}

// ---- end --------------------------------------------------------------------------------------------------------

void at_exit(void*) {
  if (session.is_forked_child.load(std::memory_order_relaxed)) return;
  // Where the recording was stopped before, its footer is written already, or being written.
  if (!end_recording(spool::WindowCause::kExit) &&
      session.state.load(std::memory_order_acquire) != SessionState::kEnded) {
    return;
  }
  const std::int64_t deadline = clock_ns(CLOCK_MONOTONIC) + std::int64_t{kExitMilliseconds} * 1'000'000;
  if (const GpuCollector* gpus = gpu_collector(); gpus != nullptr) gpus->finish(kGpuFinishMs);
  const std::int64_t left_ms = (deadline - clock_ns(CLOCK_MONOTONIC)) / 1'000'000;
  finish_drain(left_ms > 0 ? static_cast<std::uint32_t>(left_ms) : 0);
}

// ---- attach -----------------------------------------------------------------------------------------------------

// Notes why the process is not recorded, for the wrapper.
bool give_up(const char* why, int error = 0) noexcept {
  TextBuffer note(session.slot->note, sizeof session.slot->note);
  note.append(why);
  if (error != 0) {
    note.append(": errno ");
    note.append_number(static_cast<std::uint64_t>(error));
  }
  session.slot->state.store(SlotState::kFailed, std::memory_order_release);
  return false;
}

void copy_text(char* target, std::size_t capacity, const char* text) noexcept {
  TextBuffer(target, capacity).append(text);
}

bool is_rank_selected(const RankIdentity& rank, const Env& env) noexcept {
  if (session.page->plan.is_task_taken != 0 && is_rank_of_task(session.page->plan, rank)) return true;
  const SelectionResult result = is_selected(session.page->plan.selection, rank, env);
  if (result.selected == Selected::kYes) return true;
  if (result.selected == Selected::kNo) {
    session.slot->state.store(SlotState::kNotSelected, std::memory_order_release);
    return false;
  }
  TextBuffer note(session.slot->note, sizeof session.slot->note);
  note.append("the selection needs ");
  note.append(result.unknown);
  session.slot->state.store(SlotState::kFailed, std::memory_order_release);
  return false;
}

// The task's recording has ended, maybe long ago: a late process has nothing to add.
bool stay_out(StopReason reason) noexcept {
  TextBuffer note(session.slot->note, sizeof session.slot->note);
  note.append("its task's recording had been stopped before it began: ");
  note.append(stop_reason_name(reason));
  session.slot->state.store(SlotState::kStopped, std::memory_order_release);
  return false;
}

void name_output(const RankIdentity& rank, const Env& env) noexcept {
  const SessionPlan& plan = session.page->plan;
  ProcessSlot& slot = *session.slot;
  TemplateValues values;
  values.rank = rank;
  values.run = &plan.run;
  values.host = plan.host;
  values.pid = slot.pid;
  const TemplateReport report = expand_stem(plan.stem_template, values, env, slot.stem);
  copy_text(slot.unset_variable, sizeof slot.unset_variable, report.unset_variable);
}

// Which boot of which node this is; "" if it cannot be read.
void read_boot_id(char (&id)[40]) noexcept {
  id[0] = '\0';
  UniqueFd fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t length = fd ? read(fd.get(), id, sizeof id - 1) : 0;
  id[length > 0 ? length : 0] = '\0';
  if (char* end = std::strchr(id, '\n'); end != nullptr) *end = '\0';
}

// True if the page is another run's or node's: then all that is left there is a count.
bool is_lost_here(const Env& env) noexcept {
  char boot_id[40];
  read_boot_id(boot_id);
  if (!is_stranger(session.page->plan, boot_id, env)) return false;
  session.page->stranger_processes.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// For a process that cannot open its page, for want of descriptors or memory, say. Where there is no such folder, the
// session is another node's or long over, and nobody waits for word.
bool leave_mark(const char* session_path) noexcept {
  char path[kSpoolPathBytes];
  append_unattached_path(session_path, static_cast<std::int32_t>(getpid()), errno, path, sizeof path);
  mkdir(path, 0700);
  return false;
}

// All the work of the first attach; true if the process records from now on.
bool start_session() noexcept {
  const Env env;
  const char* path = env.get(kSessionVariable);
  if (path == nullptr) return false;
  errno = 0;
  session.page = map_session_page(path);
  if (session.page == nullptr) return leave_mark(path);
  if (is_lost_here(env)) return false;
  session.slot = claim_slot(session.page, &session.slot_index);
  if (session.slot == nullptr) return false;
  ProcessSlot& slot = *session.slot;
  slot.pid = static_cast<std::int32_t>(getpid());
  slot.start_ticks = process_start_ticks(slot.pid);
  const RankIdentity rank = resolve_process_rank(session.page->plan, env);
  slot.rank = rank;
  copy_text(slot.rank_variable, sizeof slot.rank_variable, rank.rank_variable);
  if (!is_rank_selected(rank, env)) return false;
  if (const StopReason reason = find_stop(session.page); reason != StopReason::kNone) return stay_out(reason);
  name_output(rank, env);
  session.clock = choose_event_clock();
  detail::event_clock.store(session.clock, std::memory_order_relaxed);
  if (const char* fault = open_session_files(rank); fault != nullptr) return give_up(fault, errno);
  if (!watch_thread_ends() || pthread_atfork(nullptr, nullptr, in_forked_child) != 0 ||
      __cxa_atexit(at_exit, nullptr, nullptr) != 0) {
    return give_up("the process has no thread key or exit handler left");
  }
  if (!start_drain()) return give_up("cannot start a thread", errno);
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
    if (is_recording) start_window();  // before others who wait here go on and record
    session.state.store(is_recording ? SessionState::kRecording : SessionState::kDead, std::memory_order_release);
    if (is_recording) wake_drain_thread();  // it learns when the window has its first edge
    errno = saved_errno;
  }
  while ((state = session.state.load(std::memory_order_acquire)) == SessionState::kAttaching) {
    // A signal handler that interrupted the attach would wait for itself.
    if (attaching_tid.load(std::memory_order_relaxed) == syscall(SYS_gettid)) return SessionState::kDead;
    sched_yield();
  }
  return state;
}

// The registration log is shared with the parent: a forked child must not append to it. After the footer nobody reads
// it, and it would grow on a disk that may be nearly full.
bool is_log_closed() noexcept {
  return session.is_forked_child.load(std::memory_order_relaxed) || session.is_drained.load(std::memory_order_relaxed);
}

}  // namespace

bool end_recording(spool::WindowCause cause) noexcept {
  SessionState expected = SessionState::kRecording;
  if (!session.state.compare_exchange_strong(expected, SessionState::kEnded)) return false;
  end_window(cause);
  return true;
}

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

spool::StringId intern(const char* text, std::size_t length) noexcept {
  if (is_log_closed()) return spool::kLostString;
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
  if (is_log_closed()) return false;
  if (session.state_log.append(kind, fixed, fixed_bytes, tail, tail_bytes)) return true;
  count_drop(Drop::kStateLogFull);
  return false;
}

const StepMarker& step_marker() noexcept {
  return session.page->plan.step_marker;
}

const SessionPlan& session_plan() noexcept {
  return session.page->plan;
}

ProcessSlot* process_slot() noexcept {
  return session.slot;
}

std::uint16_t process_nonce() noexcept {
  return session.nonce;
}

namespace detail {

void count_unrecorded() noexcept {
  if (session.is_forked_child.load(std::memory_order_relaxed)) {
    count_drop(Drop::kForkedChild);
  } else if (session.state.load(std::memory_order_relaxed) == SessionState::kEnded) {
    count_drop(Drop::kAfterEnd);
  }
}

}  // namespace detail

}  // namespace jaxprof::collect
