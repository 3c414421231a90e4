#include "tests/doubles/cuda/cupti/record_layout.h"

#include <algorithm>
#include <iterator>

#include "tests/doubles/cuda/cupti/cupti_switches.h"

namespace jaxprof::fake_cuda {
namespace {

constexpr std::uint32_t kVersions[] = {22, 28, 130001, 130101, 130300, 130500};
constexpr std::uint32_t kInventedVersion = 140000;

struct Row {
  int kind;
  std::uint16_t bytes[std::size(kVersions)];
};
constexpr Row kRows[] = {
    {1, {88, 96, 96, 96, 96, 112}},
    {2, {88, 88, 88, 88, 88, 104}},
    {3, {208, 208, 216, 224, 232, 248}},
    {4, {40, 40, 40, 40, 40, 40}},
    {5, {40, 40, 40, 40, 40, 40}},
    {6, {24, 24, 0, 0, 0, 0}},
    {7, {24, 24, 0, 0, 0, 0}},
    {8, {184, 184, 184, 184, 192, 192}},
    {9, {24, 32, 32, 40, 40, 40}},
    {10, {208, 208, 216, 224, 232, 248}},
    {11, {32, 32, 32, 32, 32, 32}},
    {12, {56, 56, 56, 56, 56, 56}},
    {13, {32, 32, 40, 40, 40, 40}},
    {14, {24, 24, 0, 0, 0, 0}},
    {15, {56, 56, 0, 0, 0, 0}},
    {16, {40, 40, 0, 0, 0, 0}},
    {17, {56, 56, 56, 56, 56, 56}},
    {18, {144, 144, 144, 144, 144, 144}},
    {19, {40, 40, 40, 40, 40, 40}},
    {20, {40, 40, 40, 40, 40, 40}},
    {21, {32, 32, 0, 0, 0, 0}},
    {22, {96, 96, 96, 96, 96, 96}},
    {23, {32, 32, 0, 0, 0, 0}},
    {24, {48, 48, 0, 0, 0, 0}},
    {25, {64, 104, 104, 104, 104, 104}},
    {26, {32, 32, 32, 32, 32, 32}},
    {27, {24, 24, 24, 24, 24, 24}},
    {28, {24, 24, 24, 24, 24, 24}},
    {29, {56, 56, 0, 0, 0, 0}},
    {30, {40, 40, 0, 0, 0, 0}},
    {31, {32, 32, 0, 0, 0, 0}},
    {32, {24, 24, 0, 0, 0, 0}},
    {33, {152, 152, 152, 152, 152, 152}},
    {34, {152, 152, 152, 152, 152, 152}},
    {35, {120, 120, 120, 120, 120, 120}},
    {36, {24, 56, 56, 56, 56, 80}},
    {37, {24, 24, 24, 24, 24, 24}},
    {38, {40, 56, 56, 56, 56, 56}},
    {39, {24, 24, 24, 24, 24, 24}},
    {40, {136, 136, 136, 136, 136, 88}},
    {41, {32, 32, 0, 0, 0, 0}},
    {42, {32, 32, 0, 0, 0, 0}},
    {43, {32, 32, 0, 0, 0, 0}},
    {44, {32, 32, 0, 0, 0, 0}},
    {45, {80, 80, 80, 80, 80, 80}},
    {46, {168, 168, 168, 168, 168, 168}},
    {47, {40, 40, 40, 40, 40, 40}},
    {48, {40, 40, 40, 40, 40, 40}},
    {49, {120, 128, 128, 128, 128, 128}},
    {50, {72, 72, 80, 80, 80, 80}},
    {51, {56, 56, 56, 56, 56, 56}},
    {52, {72, 72, 72, 72, 72, 72}},
    {53, {0, 56, 56, 56, 56, 56}},
    {54, {0, 64, 64, 64, 64, 64}},
    {55, {0, 32, 32, 32, 32, 32}},
    {56, {0, 0, 0, 56, 56, 56}},
    {57, {0, 0, 0, 24, 24, 24}},
    {58, {0, 0, 0, 48, 48, 48}},
    {59, {0, 0, 0, 0, 304, 304}},
};

// Larger than any that exists, and still a multiple of 8: the made-up version appends a field to each.
constexpr std::size_t kInventedField = 16;
constexpr std::size_t kInventedKindBytes = 72;

}  // namespace

std::uint32_t cupti_version() {
  const std::int64_t chosen = cupti_switches()[CuptiSwitch::kVersion];
  return static_cast<std::uint32_t>(chosen != 0 ? chosen : kOwnVersion);
}

std::size_t record_stride(std::uint32_t version, CUpti_ActivityKind kind) {
  const bool is_invented = version >= kInventedVersion;
  if (kind == kInventedKind) return is_invented ? kInventedKindBytes : 0;
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [kind](const Row& one) { return one.kind == static_cast<int>(kind); });
  if (row == std::end(kRows)) return 0;
  // the newest version that is not newer than this one
  const auto* const after = std::upper_bound(std::begin(kVersions), std::end(kVersions), version);
  if (after == std::begin(kVersions)) return 0;
  const std::size_t bytes = row->bytes[after - std::begin(kVersions) - 1];
  return bytes != 0 && is_invented ? bytes + kInventedField : bytes;
}

}  // namespace jaxprof::fake_cuda
