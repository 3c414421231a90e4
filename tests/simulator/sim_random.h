// Random numbers that are the same everywhere for the same seed: splitmix64 (Steele, Lea, Flood 2014), and the few
// distributions that delays and clocks need. The standard library leaves its own distributions to each implementation.
#pragma once

#include <cmath>
#include <cstdint>

namespace jaxprof::test {

// A number that depends on both and looks like no pattern.
constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15 * (value + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class SimRandom {
 public:
  explicit SimRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_++, 0); }
  // In [from, to).
  double uniform(double from = 0, double to = 1) {
    return from + (to - from) * (static_cast<double>(next() >> 11) * 0x1p-53);
  }
  bool chance(double share) { return uniform() < share; }
  double exponential(double mean) { return -mean * std::log(1 - uniform()); }
  double normal(double sigma) {
    return sigma * std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * M_PI * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace jaxprof::test
