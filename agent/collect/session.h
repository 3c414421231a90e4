// The agent's one session: how a process goes from "loaded" to "recording" to "ended", and who owns what meanwhile.
//
//   kUnattached --attach()--> kAttaching --+--> kRecording --exit(), or the task's recording is stopped--> kEnded
//                                          +--> kDead: no session or another run's, rank not selected, no disk for it
//   fork() in a process that records: the child is kDead. It shares its parent's mapped rings and must not touch them.
//
// The first caller of attach() does the work and others wait for it, which takes a few milliseconds once. Callbacks may
// come at any time after the end; they find `capture` at 0, count, and return. Nothing is ever unmapped or destroyed.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/collect/state_log.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/spool_writer.h"
#include "agent/spool/state_record.h"

namespace jaxprof::collect {

enum class SessionState : std::uint32_t { kUnattached, kAttaching, kRecording, kEnded, kDead };

inline constexpr std::uint32_t kMaxThreadRings = 1024;
// A thread's ring grows to SessionPlan::ring_bytes when it needs more than this.
inline constexpr std::uint64_t kSmallRingBytes = 32 << 10;
// What CUPTI still holds when the recording ends has so long to come; exit() waits for it and for the last blocks.
inline constexpr std::uint32_t kGpuFinishMs = 1500;

struct Session {
  std::atomic<SessionState> state{SessionState::kUnattached};
  SessionPage* page = nullptr;
  ProcessSlot* slot = nullptr;
  std::uint32_t slot_index = 0;
  std::uint16_t nonce = 0;
  ClockId clock = ClockId::kMonotonicRaw;
  spool::MemoryFile memory;  // grows under `state_log`'s lock
  StateLog state_log;        // any thread
  spool::SpoolWriter spool;  // attach(), then the drain thread only
  std::atomic<std::uint32_t> ring_count{0};
  std::atomic<spool::RingHeader*> rings[kMaxThreadRings] = {};
  std::atomic<std::uint32_t> thread_count{0};
  std::atomic<bool> is_forked_child{false};
  std::atomic<bool> is_drained{false};  // the footer is written: registrations would reach nobody
};

// Constant-initialised and never destroyed.
extern constinit Session session;

// kRecording to kEnded, with no event written from then on but those that are in the middle of it. False if the session
// is in another state. By exit(), or by the drain thread when the task's recording is stopped.
bool end_recording(spool::WindowCause cause) noexcept;

// Has threads give their rings back when they end (thread_sink.cpp); once, by attach. False: no thread key is left.
bool watch_thread_ends() noexcept;

}  // namespace jaxprof::collect
