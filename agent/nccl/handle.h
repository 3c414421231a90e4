// What we give NCCL as event handles and contexts: numbers, never pointers. NCCL hands handles back as parents, also
// stale ones (CUDA graph replays), ones of events it never told us the end of, and with PXN ones of another process. A
// number with the process's nonce in it can be recognised without being followed.
#pragma once

#include <cstdint>

namespace jaxprof::nccl {

inline constexpr unsigned kNumberBits = 52;  // thread << 36 | count
inline constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

// `nonce` is cut to the 12 bits above the number; the result is never null, because numbers start at 1.
inline void* make_handle(std::uint16_t nonce, std::uint64_t number) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uint64_t>(nonce) << kNumberBits | (number & kNumberMask));
}

// The number in `handle`, or 0 if it is null or not one of this process's.
inline std::uint64_t handle_number(std::uint16_t nonce, const void* handle) noexcept {
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  const std::uint64_t own = static_cast<std::uint64_t>(nonce) << kNumberBits;
  return (value & ~kNumberMask) == (own & ~kNumberMask) ? value & kNumberMask : 0;
}

}  // namespace jaxprof::nccl
