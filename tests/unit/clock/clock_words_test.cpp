#include "merge/clock/clock_words.h"

#include <gtest/gtest.h>

#include <limits>

namespace jaxprof::clock {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TEST(ClockWords, WarnOnlyWhereThereAreNodesToCompare) {
  EXPECT_EQ(clock_words("wall_clock", kUnknown, kUnknown, 1), "wall clock");
  EXPECT_EQ(clock_words("wall_clock", kUnknown, kUnknown, 2),
            "wall clock of each node, bound unknown: times of different nodes cannot be compared");
  EXPECT_EQ(clock_words("mixed", kUnknown, kUnknown, 3),
            "probes of several kinds, or wall clocks on some nodes, bound unknown: times of some nodes cannot be "
            "compared");
}

TEST(ClockWords, SayWhatABoundIsWorth) {
  EXPECT_EQ(clock_words("udp_kernel_stamps", 310, 6100, 2),
            "probes, stamped by the kernels, sigma 310 ns, bound 6.1 µs: differences between nodes below that are not "
            "certain");
  EXPECT_EQ(clock_words("wall_clock", kUnknown, 2.5e6, 2),
            "wall clock of each node, bound 2.5 ms: differences between nodes below that are not certain");
}

TEST(TimeWords, HaveTheUnitThatFits) {
  EXPECT_EQ(time_words(850), "850 ns");
  EXPECT_EQ(time_words(-6100), "-6.1 µs");
  EXPECT_EQ(time_words(2.5e6), "2.5 ms");
  EXPECT_EQ(time_words(24.8416e9), "24.8 s");
  EXPECT_EQ(time_words(86400.5e9), "86400.5 s");
}

}  // namespace
}  // namespace jaxprof::clock
