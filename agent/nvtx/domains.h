// What ranges of a domain are for: whether -t keeps them, and whether one of them may mark a step, be what the window
// is a window of, or be a call of NCCL. Known from when the domain is created, so that a range that matters to nobody
// costs one look at a byte, window or not.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "agent/collect/event_sink.h"

namespace jaxprof::nvtx {

enum DomainUse : std::uint8_t {
  kIsKept = 1,      // by -t; of other domains only steps and the window's ranges are
  kHasSteps = 2,    // --step-marker
  kHasContent = 4,  // --capture-range, where that has a range of its own
  kIsNccl = 8,
};
// Some of its ranges have to be looked at while the window is closed.
inline constexpr std::uint8_t kIsWatched = kHasSteps | kHasContent | kIsNccl;

namespace detail {
extern std::atomic<std::uint8_t> domain_uses[collect::kMaxDomains];
// How texts begin that mark steps, and what the window is a window of.
extern std::atomic<char> step_letter;
extern std::atomic<char> content_letter;
}  // namespace detail

// To be called before the domain's number is given to anyone, and once for the default domain, "".
void note_domain(std::uint16_t domain, std::string_view name) noexcept;

inline std::uint8_t uses_of(std::uint16_t domain) noexcept {
  return detail::domain_uses[domain].load(std::memory_order_relaxed);
}

// False for texts that mark nothing, which is known by their first letter.
inline bool is_watched_letter(char letter) noexcept {
  return letter == detail::step_letter.load(std::memory_order_relaxed) ||
         letter == detail::content_letter.load(std::memory_order_relaxed);
}

inline bool is_nccl_domain(std::uint8_t uses) noexcept {
  return (uses & kIsNccl) != 0;
}

}  // namespace jaxprof::nvtx
