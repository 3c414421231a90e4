// Most ranges of a job come while the window is closed, and are nobody's business: of such a push and pop only the
// depth is kept, here, in a few nanoseconds, inside the callback. What may matter all the same (a step, what the window
// is a window of, a call of NCCL, a thread's first range, anything after the end) is for ranges.h.
#pragma once

#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/domains.h"
#include "agent/nvtx/nvtx_types.h"
#include "agent/nvtx/registry.h"

namespace jaxprof::nvtx {

inline constexpr int kNotQuiet = INT32_MIN;

// May a range with this message in a domain with these uses matter?
inline bool may_matter(std::uint8_t uses, std::int32_t message_type, const nvtxMessageValue_t& message) noexcept {
  if ((uses & kIsWatched) == 0) [[likely]]
    return false;
  if ((uses & kIsNccl) != 0) return true;
  if (message_type == NVTX_MESSAGE_TYPE_ASCII) return message.ascii != nullptr && is_watched_letter(*message.ascii);
  if (message_type != NVTX_MESSAGE_TYPE_REGISTERED) return message_type == NVTX_MESSAGE_TYPE_UNICODE;
  const spool::StringId id = string_of(message.registered);
  return collect::marks_step(id) || collect::marks_window(id);
}

// The range's depth; kNotQuiet, and nothing is done, if it is for push().
inline int push_quietly(nvtxDomainHandle_t handle, std::int32_t message_type,
                        const nvtxMessageValue_t& message) noexcept {
  collect::ThreadSink* sink = collect::present_thread_sink();
  if (collect::detail::capture.load(std::memory_order_relaxed) != 0 || sink == nullptr) return kNotQuiet;
  const std::uint16_t domain = domain_number(handle);
  if (may_matter(uses_of(domain), message_type, message)) return kNotQuiet;
  std::uint16_t& depth = sink->ranges[domain].depth;
  return depth < UINT16_MAX ? depth++ : kNotQuiet;
}

// The same for pop().
inline int pop_quietly(nvtxDomainHandle_t handle) noexcept {
  collect::ThreadSink* sink = collect::present_thread_sink();
  if (collect::detail::capture.load(std::memory_order_relaxed) != 0 || sink == nullptr) return kNotQuiet;
  const std::uint16_t domain = domain_number(handle);
  collect::OpenRanges& open = sink->ranges[domain];
  if (open.depth == 0) return kNotQuiet;
  const auto depth = static_cast<std::uint16_t>(open.depth - 1);
  const std::uint32_t place = collect::range_place(domain, depth);
  if (sink->pushed_step == place || sink->pushed_content == place) return kNotQuiet;
  open.depth = depth;
  collect::note_unseen_end(&open, depth);
  return depth;
}

}  // namespace jaxprof::nvtx
