#include "agent/collect/session_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/file_size_limit.h"
#include "agent/base/text.h"
#include "agent/collect/session.h"
#include "agent/contract/local_layout.h"
#include "agent/spool/identity.h"

namespace jaxprof::collect {
namespace {

// Less is no use: a spool grows by megabytes a minute, and its first blocks are written by the program's own thread.
constexpr std::uint64_t kLeastFileBytes = 16 << 20;

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

void write_window(const SessionPlan& plan, spool::IdentityWriter* out) noexcept {
  char text[kCaptureRangeBytes];
  TextBuffer range(text, sizeof text);
  append_capture_range(plan.window, &range);
  out->text(spool::IdentityKey::kCaptureRange, text);
  TextBuffer end(text, sizeof text);
  append_capture_range_end(plan.window, &end);
  out->text(spool::IdentityKey::kCaptureRangeEnd, text);
  out->number(spool::IdentityKey::kWindowDelayNs, plan.window.delay_ns);
  out->number(spool::IdentityKey::kWindowDurationNs, plan.window.duration_ns);
  out->number(spool::IdentityKey::kT0RealtimeNs, plan.window.t0_realtime_ns != 0 ? plan.window.t0_realtime_ns : -1);
  TextBuffer kinds(text, sizeof text);
  append_trace_kinds(plan.trace, &kinds);
  out->text(spool::IdentityKey::kTrace, text);
  out->number(spool::IdentityKey::kCupti, static_cast<std::int64_t>(plan.cupti));
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
  out.text(IdentityKey::kTask, plan.task);
  out.number(IdentityKey::kSlot, session.slot_index);
  out.text(IdentityKey::kStem, slot.stem);
  out.number(IdentityKey::kEventClock, static_cast<std::int64_t>(session.clock));
  out.text(IdentityKey::kVersion, JAXPROF_VERSION);
  out.number(IdentityKey::kTimeNamespace, time_namespace());
  out.number(IdentityKey::kUserId, static_cast<std::int64_t>(getuid()));
  out.number(IdentityKey::kAttachRealtimeNs, clock_ns(CLOCK_REALTIME));
  char marker[kStepMarkerBytes];
  TextBuffer marker_text(marker, sizeof marker);
  append_step_marker(plan.step_marker, &marker_text);
  out.text(IdentityKey::kStepMarker, marker);
  write_window(plan, &out);
  char path[1024] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) > 0) out.text(IdentityKey::kExecutable, path);
  static char command[4096];
  out.bytes(IdentityKey::kCommandLine, command, read_proc("/proc/self/cmdline", command, sizeof command));
  session.spool.write_block(spool::BlockKind::kIdentity, buffer, out.size());
}

// The first anchor: from here on every stamp of the spool can be placed.
void write_first_anchor() noexcept {
  const spool::AnchorRecord record = spool::take_anchor_record(session.clock);
  std::uint8_t buffer[spool::SpoolWriter::kHeadroom + sizeof record];
  std::memcpy(buffer + spool::SpoolWriter::kHeadroom, &record, sizeof record);
  session.spool.write_block(spool::BlockKind::kAnchors, buffer, sizeof record);
}

}  // namespace

bool join_spool_path(char (&path)[kSpoolPathBytes], const char* name) noexcept {
  TextBuffer out(path, sizeof path);
  out.append(session.page->plan.spool_directory);
  out.append('/');
  out.append(name);
  return !out.is_truncated();
}

const char* open_session_files(const RankIdentity& rank) noexcept {
  ProcessSlot& slot = *session.slot;
  if (!is_file_size_allowed(kLeastFileBytes)) {
    errno = 0;
    return "the process may not write files of 16 MiB (ulimit -f)";
  }
  append_local_name(session.slot_index, slot.pid, LocalFile::kSpool, slot.spool_name, sizeof slot.spool_name);
  append_local_name(session.slot_index, slot.pid, LocalFile::kRings, slot.ring_name, sizeof slot.ring_name);
  char path[kSpoolPathBytes];
  if (!join_spool_path(path, slot.ring_name)) {
    errno = 0;
    return "the spool directory's name is too long";
  }
  if (!session.memory.create(path, static_cast<std::uint32_t>(slot.pid)) ||
      !session.state_log.open(&session.memory, session.page->plan.state_log_bytes)) {
    return "cannot make the memory file";
  }
  session.state_log.note_messages(&session.page->plan.step_marker, &session.page->plan.window.marker);
  std::uint64_t file_id = 0;
  if (getrandom(&file_id, sizeof file_id, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof file_id)) {
    file_id = static_cast<std::uint64_t>(clock_ns(CLOCK_REALTIME)) ^ (static_cast<std::uint64_t>(slot.pid) << 40);
  }
  session.nonce = static_cast<std::uint16_t>(file_id | 1);
  join_spool_path(path, slot.spool_name);
  if (!session.spool.create(path, file_id)) return "cannot make the spool";
  write_identity(rank);
  write_first_anchor();
  if (session.spool.has_failed()) return "cannot write the spool";
  session.spool.close();  // the drain thread opens it again, among descriptors of its own
  slot.spool_bytes.store(session.spool.bytes(), std::memory_order_release);
  return nullptr;
}

}  // namespace jaxprof::collect
