// The FAKE_CUPTI_ switches; fake_cuda.h says what each does.
#pragma once

#include "tests/doubles/cuda/switches.h"

namespace jaxprof::fake_cuda {

enum class CuptiSwitch {
  kVersion,
  kPerThread,
  kLateRecords,
  kSubscribeResult,
  kEnableResult,
  kEnableResultKind,
  kMultiple,
  kV2Result,
  kFlushHang,
  kFlushUs,
  kCrossThread,
  kLateEnd,
  kFatalAfter,
  kDropEvery,
  kZeroEvery,
  kForkHang,
  kUnknownEvery,
  kVersionResult,
  kDisableHang,
  kHes,
  kSubscribeUs,
};

// VERSION of the file that this code is linked into.
extern const std::int64_t kOwnVersion;

inline constexpr SwitchDefault kCuptiSwitchDefaults[] = {
    {"VERSION", 0},       {"PER_THREAD", -1},        {"LATE_RECORDS", 0}, {"SUBSCRIBE_RESULT", 0},
    {"ENABLE_RESULT", 0}, {"ENABLE_RESULT_KIND", 0}, {"MULTIPLE", 1},     {"V2_RESULT", 0},
    {"FLUSH_HANG", 0},    {"FLUSH_US", 0},           {"CROSS_THREAD", 0}, {"LATE_END", 0},
    {"FATAL_AFTER", 0},   {"DROP_EVERY", 0},         {"ZERO_EVERY", 0},   {"FORK_HANG", 0},
    {"UNKNOWN_EVERY", 4}, {"VERSION_RESULT", 0},     {"DISABLE_HANG", 0}, {"HES", 0},
    {"SUBSCRIBE_US", 0},
};

inline auto& cupti_switches() {
  static auto* const all =
      new Switches<CuptiSwitch, std::size(kCuptiSwitchDefaults)>("FAKE_CUPTI_", kCuptiSwitchDefaults);
  return *all;
}

}  // namespace jaxprof::fake_cuda
