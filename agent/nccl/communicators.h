// Communicators as NCCL's profiler interface shows them: one context a communicator and member, for which we give a
// number in a pointer's clothes. From version 4 on NCCL tells init which communicator it is; before, the first call on
// it does, and it is registered then. Registering happens whether or not the window is open, so that a window may open
// in the middle of the job. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/nccl/handle.h"

namespace jaxprof::nccl {

namespace detail {
// The process's nonce once a communicator has begun that is to be recorded; 0: none has.
extern std::atomic<std::uint16_t> nonce;
extern std::atomic<std::uint32_t> communicator_count;
}  // namespace detail

struct Identity {
  std::uint64_t hash = 0;        // NCCL's communicator id, equal on all members
  const char* name = nullptr;    // the caller's, and maybe gone after the call
  std::int32_t rank = -1;        // in the communicator
  std::int32_t rank_count = -1;  // -1: not told
  std::int32_t node_count = -1;
};

// For init of the interface's version `api`. True if NCCL's calls are to be recorded in this process; `context` then
// becomes the communicator's, and else null. `identity` null: not told yet.
bool begin_communicator(std::uint32_t api, const Identity* identity, void** context) noexcept;
// For finalize.
void end_communicator(const void* context) noexcept;

// For each call of a version up to 3. Cheap once it is known.
void learn_communicator(std::uint32_t api, const void* context, const Identity& identity) noexcept;

// What our handles and contexts carry; 0 before there are any.
inline std::uint16_t own_nonce() noexcept {
  return detail::nonce.load(std::memory_order_relaxed);
}

// 0 for null and for a context that is not this process's (PXN).
inline std::uint32_t communicator_number(const void* context) noexcept {
  const std::uint64_t number = handle_number(own_nonce(), context);
  return number <= detail::communicator_count.load(std::memory_order_relaxed) ? static_cast<std::uint32_t>(number) : 0;
}

// True once a communicator has begun that is to be recorded. Where it is false NCCL calls only because another has
// rewritten the event mask.
inline bool is_tracing() noexcept {
  return own_nonce() != 0;
}

}  // namespace jaxprof::nccl
