#include "agent/cupti/api_calls.h"

namespace jaxprof::cupti {
namespace {

// Ids with both ends; the names of each are in the test that compares them with NVIDIA's headers.
constexpr ApiRange kDriverCalls[] = {
    {17, 17, false},   {43, 43, true},    {45, 45, true},    {47, 47, true},    {49, 49, true},    {51, 51, true},
    {53, 58, true},    {60, 60, true},    {62, 62, true},    {64, 64, true},    {66, 69, true},    {71, 71, true},
    {73, 73, true},    {75, 75, true},    {77, 77, true},    {79, 79, true},    {81, 81, true},    {115, 117, true},
    {121, 121, false}, {126, 126, false}, {216, 216, true},  {218, 218, true},  {220, 220, true},  {222, 222, true},
    {224, 224, true},  {226, 226, true},  {249, 254, true},  {276, 293, true},  {295, 295, false}, {305, 307, true},
    {318, 321, true},  {397, 416, true},  {418, 433, true},  {436, 436, false}, {440, 440, false}, {442, 442, true},
    {477, 478, true},  {480, 480, true},  {513, 513, false}, {514, 515, true},  {527, 528, false}, {578, 578, false},
    {643, 643, false}, {652, 653, true},  {776, 779, true},  {796, 799, true},  {800, 800, false}, {831, 832, false}};
constexpr ApiRange kRuntimeCalls[] = {
    {13, 13, true},    {31, 52, true},    {126, 126, false}, {131, 131, false}, {137, 137, false}, {142, 145, true},
    {147, 147, false}, {160, 163, true},  {165, 165, false}, {211, 211, true},  {213, 236, true},  {239, 239, false},
    {243, 246, true},  {247, 247, false}, {249, 250, true},  {269, 270, true},  {272, 272, true},  {284, 285, false},
    {310, 310, false}, {311, 312, true},  {418, 418, false}, {430, 431, true},  {443, 443, false}, {482, 485, true},
    {505, 506, true},  {509, 512, true},  {534, 534, false}, {550, 551, false}};

}  // namespace

ApiRanges ranges_of(abi::Domain domain) noexcept {
  if (domain == abi::kDriverApi) return {kDriverCalls, sizeof kDriverCalls / sizeof kDriverCalls[0]};
  return {kRuntimeCalls, sizeof kRuntimeCalls / sizeof kRuntimeCalls[0]};
}

void ApiSet::fill(abi::Domain domain) noexcept {
  const ApiRanges all = ranges_of(domain);
  for (std::size_t i = 0; i < all.count; ++i) {
    const ApiRange& range = all.ranges[i];
    for (std::uint32_t id = range.first; id <= range.last && id < kIds; ++id) {
      bits_[id] = static_cast<std::uint8_t>(kRecorded | (range.starts_work ? kStartsWork : 0));
    }
  }
}

}  // namespace jaxprof::cupti
