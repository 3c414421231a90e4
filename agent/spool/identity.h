// The first block of a spool: whose it is. Key-value records, so that fields can be added without a new version:
// `u16 key, u16 reserved, u32 length, bytes`, numbers as 8 bytes. Unknown keys are skipped. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jaxprof::spool {

// Never renumber. N: number (int64, -1 unknown), T: text.
enum class IdentityKey : std::uint16_t {
  kRunId = 1,              // T JOB.STEP.RESTART
  kJobId = 2,              // T
  kStepId = 3,             // T
  kRestart = 4,            // N
  kRank = 5,               // N
  kWorldSize = 6,          // N
  kLocalRank = 7,          // N
  kNodeIndex = 8,          // N
  kLauncher = 9,           // T
  kRankVariable = 10,      // T the variable that gave the rank
  kHost = 11,              // T
  kBootId = 12,            // T names the node
  kPid = 13,               // N
  kStartTicks = 14,        // N field 22 of /proc/PID/stat
  kWrapperPid = 15,        // N
  kSlot = 16,              // N
  kStem = 17,              // T expanded STEM of the output template
  kEventClock = 18,        // N ClockId of all stamps
  kVersion = 19,           // T of jaxprof
  kExecutable = 20,        // T
  kCommandLine = 21,       // T arguments, each ended by a zero byte
  kTimeNamespace = 22,     // N inode of /proc/self/ns/time
  kUserId = 23,            // N
  kAttachRealtimeNs = 24,  // N CLOCK_REALTIME when the agent attached
  kStepMarker = 25,        // T --step-marker (agent/contract/step_marker.h); absent in spools from before it
  kTask = 26,              // T the name of its task's records, one for each task of a run; absent in older spools
  kCaptureRange = 27,      // T --capture-range (agent/contract/window_plan.h); absent in spools from before windows
  kCaptureRangeEnd = 28,   // T
  kWindowDelayNs = 29,     // N --delay
  kWindowDurationNs = 30,  // N --duration; 0: no limit
  kT0RealtimeNs = 31,      // N CLOCK_REALTIME that --delay counts from; -1: the process's attach
  kTrace = 32,             // T -t, in full (agent/contract/trace_kinds.h)
  kSpoolKind = 33,         // N SpoolKind (node_record.h); absent: a process
  kCupti = 34,             // N --cupti: CuptiPolicy (agent/contract/session_page.h); absent in older spools
};

struct IdentityField {
  std::uint16_t key;
  std::uint16_t reserved;
  std::uint32_t length;
};
static_assert(sizeof(IdentityField) == 8);

// Fills a caller's buffer with fields; what does not fit is left out.
class IdentityWriter {
 public:
  IdentityWriter(std::uint8_t* buffer, std::size_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {}
  void text(IdentityKey key, const char* value) noexcept { bytes(key, value, std::strlen(value)); }
  void number(IdentityKey key, std::int64_t value) noexcept { bytes(key, &value, sizeof value); }
  void bytes(IdentityKey key, const void* value, std::size_t length) noexcept {
    const IdentityField field{static_cast<std::uint16_t>(key), 0, static_cast<std::uint32_t>(length)};
    if (size_ + sizeof field + length > capacity_) return;
    std::memcpy(buffer_ + size_, &field, sizeof field);
    if (length > 0) std::memcpy(buffer_ + size_ + sizeof field, value, length);
    size_ += sizeof field + length;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  std::uint8_t* buffer_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

}  // namespace jaxprof::spool
