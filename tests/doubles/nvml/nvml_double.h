// What the functions of the fake NVML share: the switches, the time, and the way through which every call goes. Any
// thread.
#pragma once

#include <cstdint>
#include <string>

namespace jaxprof::fake_nvml {

// Results, in the double's own words.
inline constexpr int kOk = 0;
inline constexpr int kBadArgument = 2;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kNotFound = 6;
inline constexpr int kLost = 15;

struct Switches {
  std::int64_t gpus, mig, denied, init_result, init_ms, cap_mask, cap_at_ms, cap_for_ms, lost_mask, lost_at_ms,
      hang_at_ms, crash_at_ms, prints, pcie_bits;
  std::string unsupported, forbidden;
};
const Switches& switches();

// Since the library was loaded.
std::int64_t now_ns();

// A board or an instance of one, as the handle that a program gets.
struct Handle {
  unsigned board = 0;
  int instance = -1;  // of the board; -1: the board itself
};
// Null if there is none.
const Handle* handle_of(unsigned board, int instance);

// How long until `at_ns` the board was held back by its power cap.
std::int64_t capped_ns(unsigned board, std::int64_t at_ns);
bool is_capped(unsigned board, std::int64_t at_ns);

// The beginning of a call about a device: plays hang and crash, and says what the call must answer if not kOk: unknown
// handles, lost boards, functions that are switched off.
int enter(const char* function, const void* device);
// The end of each call: writes the report's line and returns `result`.
int leave(const char* function, const void* device, int result);

}  // namespace jaxprof::fake_nvml

#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))
