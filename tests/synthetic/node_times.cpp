#include "tests/synthetic/node_times.h"

#include "tests/simulator/sim_random.h"

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kMostPartsPerBillion = 20'000;
constexpr std::int64_t kMostWallErrorNs = 2'000'000;

// In [-most, most].
std::int64_t scattered(std::uint64_t seed, std::uint32_t node, std::int64_t most) {
  return static_cast<std::int64_t>(test::mix(seed, node) % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

}  // namespace

std::int64_t NodeTimes::raw_ns(std::uint32_t node, std::int64_t true_ns) const {
  const std::int64_t boot_ns = 3'600'000'000'000 + std::int64_t{node} * 1'234'567'890'123;
  const std::int64_t rate = has_errors_ ? scattered(seed_ ^ 0xd21f7, node, kMostPartsPerBillion) : 0;
  // In two parts, since the product would not fit.
  constexpr std::int64_t kMillion = 1'000'000;
  return boot_ns + true_ns + true_ns / kMillion * rate / 1000 + true_ns % kMillion * rate / (1000 * kMillion);
}

std::int64_t NodeTimes::wall_ns(std::uint32_t node, std::int64_t true_ns) const {
  return kZeroUnixNs + true_ns + (has_errors_ ? scattered(seed_ ^ 0x3a11, node, kMostWallErrorNs) : 0);
}

}  // namespace jaxprof::synthetic
