#include "agent/contract/session_page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/file_size_limit.h"
#include "agent/base/unique_fd.h"

namespace jaxprof {
namespace {

SessionPage* map_file(int fd) noexcept {
  void* memory = mmap(nullptr, sizeof(SessionPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SessionPage*>(memory);
}

// True if `fresh`, told since the wrapper by something that may be no launcher, may take the place of the task's rank.
bool is_own_rank(const RankIdentity& fresh, const RankIdentity& task) noexcept {
  if (fresh.launcher == Launcher::kExplicit) return true;
  if (fresh.launcher == Launcher::kPlainEnv) {
    return !task.is_known() || task.launcher == Launcher::kPlainEnv || task.launcher == Launcher::kKubernetes;
  }
  return fresh.world_size > 0 || (!task.is_known() && fresh.launcher != Launcher::kPmix);
}

}  // namespace

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

const char* drop_name(Drop drop) noexcept {
  switch (drop) {
    case Drop::kRingFull:
      return "ring-full";
    case Drop::kStateLogFull:
      return "state-log-full";
    case Drop::kPayloadTruncated:
      return "payload-truncated";
    case Drop::kForkedChild:
      return "forked-child";
    case Drop::kAfterEnd:
      return "after-end";
    case Drop::kNoThreadRing:
      return "no-thread-ring";
    case Drop::kSpoolWriteFailed:
      return "spool-write-failed";
    case Drop::kForeignHandle:
      return "foreign-handle";
    case Drop::kUnbalancedPop:
      return "unbalanced-pop";
    case Drop::kGpuBuffersFull:
      return "gpu-buffers-full";
    case Drop::kGpuDropped:
      return "gpu-dropped";
    case Drop::kGpuWithoutTime:
      return "gpu-without-time";
    case Drop::kGpuUnflushed:
      return "gpu-unflushed";
    case Drop::kGpuUnknownKind:
      return "gpu-unknown-kind";
    case Drop::kGpuNameLost:
      return "gpu-name-lost";
    case Drop::kCount:
      break;
  }
  return "unknown";
}

bool is_kept_in_part(Drop drop) noexcept {
  return drop == Drop::kPayloadTruncated || drop == Drop::kGpuWithoutTime || drop == Drop::kGpuNameLost;
}

const char* stop_reason_name(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::kDeadline:
      return "deadline";
    case StopReason::kSpoolLimit:
      return "spool-limit";
    case StopReason::kDiskReserve:
      return "disk-reserve";
    case StopReason::kWriteFailed:
      return "write-failed";
    case StopReason::kNone:
      break;
  }
  return "none";
}

bool stop_recording(SessionPage* page, StopReason reason) noexcept {
  StopReason none = StopReason::kNone;
  return page->stop.compare_exchange_strong(none, reason, std::memory_order_acq_rel);
}

SessionPage* map_session_page(const char* path) noexcept {
  UniqueFd fd(open(path, O_RDWR | O_CLOEXEC));
  if (!fd) return nullptr;
  // A page that is shorter than it should be would be SIGBUS on access.
  if (lseek(fd.get(), 0, SEEK_END) < static_cast<off_t>(sizeof(SessionPage))) return nullptr;
  SessionPage* page = map_file(fd.get());
  if (page == nullptr) return nullptr;
  const SessionPlan& plan = page->plan;
  const bool is_ours = std::memcmp(plan.magic, kSessionMagic, sizeof plan.magic) == 0 &&
                       plan.version == kSessionVersion && plan.page_bytes == sizeof(SessionPage);
  if (is_ours) return page;
  munmap(page, sizeof(SessionPage));
  return nullptr;
}

SessionPage* create_session_page(const char* path) noexcept {
  if (!is_file_size_allowed(sizeof(SessionPage))) return nullptr;
  UniqueFd fd(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return nullptr;
  // posix_fallocate writes the blocks where the file system cannot reserve them.
  const int failure = posix_fallocate(fd.get(), 0, sizeof(SessionPage));
  SessionPage* page = failure == 0 ? map_file(fd.get()) : nullptr;
  if (page == nullptr) {
    const int saved = failure != 0 ? failure : errno;
    unlink(path);
    errno = saved;
    return nullptr;
  }
  std::memcpy(page->plan.magic, kSessionMagic, sizeof kSessionMagic);
  page->plan.version = kSessionVersion;
  page->plan.page_bytes = sizeof(SessionPage);
  page->plan.task_rank = RankIdentity();
  page->plan.task_sources = RankSources();
  return page;
}

void set_task_rank(SessionPlan* plan, const Env& env, pid_t wrapper_pid) noexcept {
  plan->task_rank = resolve_rank(env, wrapper_pid, plan->rank_variables);
  plan->task_sources = read_rank_sources(env);
  TextBuffer(plan->task_rank_variable, sizeof plan->task_rank_variable).append(plan->task_rank.rank_variable);
}

RankIdentity resolve_process_rank(const SessionPlan& plan, const Env& env) noexcept {
  if (const RankIdentity named = resolve_named_rank(env, plan.rank_variables); named.is_known()) return named;
  const RankIdentity fresh = resolve_new_rank(env, plan.task_sources);
  const bool is_own = plan.has_inner_ranks != 0 || is_own_rank(fresh, plan.task_rank);
  if (fresh.is_known() && is_own) return fresh;
  RankIdentity task = plan.task_rank;
  task.rank_variable = plan.task_rank_variable;
  return task;
}

bool is_rank_of_task(const SessionPlan& plan, const RankIdentity& rank) noexcept {
  return rank.rank == plan.task_rank.rank && rank.world_size == plan.task_rank.world_size;
}

ProcessSlot* claim_slot(SessionPage* page, std::uint32_t* index) noexcept {
  *index = page->claimed_slots.fetch_add(1, std::memory_order_acq_rel);
  if (*index >= kMaxProcessSlots) return nullptr;
  ProcessSlot* slot = &page->slots[*index];
  slot->state.store(SlotState::kStarting, std::memory_order_release);
  return slot;
}

std::uint64_t process_start_ticks(pid_t pid) noexcept {
  char path[32];
  TextBuffer name(path, sizeof path);
  name.append("/proc/");
  name.append_number(static_cast<std::uint64_t>(pid));
  name.append("/stat");
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  char text[1024];
  const ssize_t length = read(fd.get(), text, sizeof text - 1);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The command's name, field 2, may hold blanks and parentheses: count from the last ')'.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  if (at == nullptr) return 0;
  std::size_t digits = 0;
  while (at[digits] >= '0' && at[digits] <= '9') ++digits;
  std::uint64_t ticks = 0;
  return parse_decimal(at, digits, &ticks) ? ticks : 0;
}

}  // namespace jaxprof
