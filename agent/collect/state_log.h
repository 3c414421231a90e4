// Keeps what a process registers: strings by content, and state records of every kind, appended to log segments of the
// memory file. Looking a known string up is lock-free. Adding takes a lock that can never hang its caller: a signal
// handler that interrupted the holder loses its string instead, and counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/contract/step_marker.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/state_record.h"

namespace jaxprof::collect {

// A lock for rare sections of microseconds (a new string) to milliseconds (a new ring, which the disk allocates). A
// holder always goes on, so others wait for it; but a signal handler that interrupted the holder would wait for itself,
// and is refused at once. A second is the most that anyone waits, should the system stop the holder.
class BoundedLock {
 public:
  bool lock() noexcept;
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<int> holder_{0};  // gettid(); 0: free
};

class StateLog {
 public:
  static constexpr std::uint32_t kTableSlots = 1U << 18;  // strings: three quarters of it
  static constexpr std::uint64_t kSegmentBytes = 1U << 20;
  static constexpr std::uint32_t kMaxLogSegments = 256;

  // Reserves the string table and the first log segment in `memory`; false without memory or disk for them.
  bool open(spool::MemoryFile* memory, std::uint64_t cap_bytes) noexcept;

  // From now on strings that mark steps, or what the window is a window of, are noted as such (marks_step() and
  // marks_window() in event_sink.h). Both must stay.
  void note_messages(const StepMarker* steps, const StepMarker* window) noexcept {
    steps_ = steps;
    window_ = window;
  }

  // The string's id; kLostString if it is new and could not be kept. Any thread.
  spool::StringId intern(const char* text, std::size_t length) noexcept;
  // Appends a record made of two parts; false if the log is full. Any thread.
  bool append(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void* tail,
              std::size_t tail_bytes) noexcept;

  // For the drain thread: the number of log segments, and each one's header.
  std::uint32_t segment_count() const noexcept { return segment_count_.load(std::memory_order_acquire); }
  spool::StateLogHeader* segment(std::uint32_t index) const noexcept { return segments_[index]; }

  // Guards the memory file's growth as well.
  BoundedLock& lock() noexcept { return lock_; }

 private:
  struct Slot {
    std::atomic<const spool::StringState*> string;
    std::uint64_t hash;
  };

  const spool::StringState* find(std::uint64_t hash, const char* text, std::size_t length,
                                 std::uint32_t* free_slot) const noexcept;
  void* append_locked(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void* tail,
                      std::size_t tail_bytes) noexcept;
  bool add_segment_locked() noexcept;

  BoundedLock lock_;
  spool::MemoryFile* memory_ = nullptr;
  const StepMarker* steps_ = nullptr;
  const StepMarker* window_ = nullptr;
  Slot* table_ = nullptr;
  std::uint32_t string_count_ = 0;
  std::uint64_t cap_bytes_ = 0;
  std::atomic<std::uint32_t> segment_count_{0};
  spool::StateLogHeader* segments_[kMaxLogSegments] = {};
};

}  // namespace jaxprof::collect
