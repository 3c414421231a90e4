// The one collector of GPU activities in a process, and how it goes from window to window:
//
//   kIdle --open()--> kOpen --close()--> kDraining --all has come, or it took too long--> kClosing --> kIdle
//                      ^ ^ |                ^    |
//                      | | |             kClosing|
//                      | | |                ^    +--open()--> kOpen
//                      | | +--close()--> kLingering --nobody opened again, and all of the segment has come--^
//                      | +----open()--------+
//                      +-- kClosingToOpen: open() came while kinds were disabled or the place given back, and that took
//                          too long to wait for
//
// Kinds are disabled at close() by the thread that closes, so that the very next launch costs nothing. Where the window
// may open again, or kinds must stay enabled, they linger: records of between the segments are left out instead, since
// to enable kinds again before all records of the last time have come spoils their times. So they are disabled only
// when these have come, and an opening finds kinds enabled, or enables them at once.
//
// Threads: open() and close() on any thread, one after the other; the flusher thread ends drains; buffers and resources
// come on the job's threads; the drain thread of agent/collect reads them. None waits for another, but for finish(),
// and open() for kClosing, which is some calls of CUPTI long. CUPTI is never finalised, and nothing here is ever
// unmapped: callbacks may come late.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/contract/session_page.h"
#include "agent/cupti/activity_encoder.h"
#include "agent/cupti/block_filler.h"
#include "agent/cupti/buffer_pool.h"
#include "agent/cupti/kept_spans.h"
#include "agent/cupti/kinds.h"
#include "agent/cupti/library.h"
#include "agent/cupti/nccl_nodes.h"
#include "agent/cupti/notices.h"
#include "agent/cupti/status.h"
#include "agent/cupti/strides.h"
#include "agent/cupti/subscriber.h"

namespace jaxprof::cupti {

// CUDA is being initialised: finds CUPTI and makes the collector known, if the session records and the plan wants GPUs.
// If it wants none but a window of cudaProfilerStart, that is all that CUPTI is asked for. After attach(); any number
// of times, the first one counts.
void initialize() noexcept;

enum class Phase : std::uint32_t { kIdle, kOpen, kLingering, kDraining, kClosing, kClosingToOpen };

struct Collector {
  Library library;
  Subscriber subscriber;
  BufferPool pool;
  Strides strides;
  Kinds kinds;
  KeptSpans spans;
  ActivityEncoder encoder;
  BlockFiller filler;
  NcclNodes nccl_nodes;

  std::atomic<bool> is_ready{false};   // initialize() has returned
  std::atomic<bool> is_dead{false};    // forked child, or CUPTI has ended itself: it must not be called any more
  std::atomic<bool> is_forked{false};  // forked child: the buffers are its parent's, and nobody reads or counts them
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<bool> is_enabled{false};         // kinds are
  bool only_watches = false;                   // cudaProfilerStart and Stop: no kind is ever enabled
  bool takes_early = false;                    // the place with CUPTI, and keeps it
  bool keeps_enabled = false;                  // kinds, from their first opening on
  bool may_reopen = false;                     // the window may open again
  std::atomic<std::int64_t> closed_ns{0};      // of the last close(), CLOCK_MONOTONIC
  std::atomic<std::uint64_t> closed_takes{0};  // buffers that CUPTI had been given by then
  std::atomic<std::uint64_t> launches{0};      // of NCCL, while open
  char place_note[kNoteBytes] = "";            // what is to be said of the place; who opens writes it, and reads it
};

extern constinit Collector collector;

// Takes the place with CUPTI, if there is one. On a thread that may call CUPTI.
bool take_place() noexcept;
// Enables kinds, taking the place first where that is still to be done.
bool start_collection() noexcept;
// Disables kinds.
void stop_collection() noexcept;
// Gives the place back, where it was taken late.
void give_place_back() noexcept;

}  // namespace jaxprof::cupti
