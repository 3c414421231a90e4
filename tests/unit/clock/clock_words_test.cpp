#include "merge/clock/clock_words.h"

#include <gtest/gtest.h>

#include <limits>

namespace jaxprof::clock {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TEST(ClockWords, WarnOnlyWhereThereAreNodesToCompare) {
  EXPECT_EQ(clock_words("wall_clock", kUnknown, 1), "wall clock");
  EXPECT_EQ(clock_words("wall_clock", kUnknown, 2),
            "wall clock of each node, bound unknown: times of different nodes cannot be compared");
}

TEST(ClockWords, SayWhatABoundIsWorth) {
  EXPECT_EQ(clock_words("udp_probes", 6100, 2),
            "udp_probes, bound 6.1 µs: differences between nodes below that mean nothing");
  EXPECT_EQ(clock_words("udp_probes", 900, 2).substr(0, 25), "udp_probes, bound 900 ns:");
  EXPECT_EQ(clock_words("udp_probes", 2.5e6, 2).substr(0, 25), "udp_probes, bound 2.5 ms:");
}

}  // namespace
}  // namespace jaxprof::clock
