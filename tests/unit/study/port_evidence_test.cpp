// Which port is slow, and when counters cannot tell.
#include "merge/study/port_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/sampled_run.h"

namespace jaxprof::study {
namespace {

using runfile::CounterUnit;
using runfile::kNoSample;
using test::Counter;
using test::Port;

constexpr std::uint64_t kMb = 1'000'000;
constexpr std::int64_t kS = 1'000'000'000;

// Moves `mb` a second; bad packets are read as given.
Port port(std::uint32_t node, const char* name, std::uint64_t mb, std::vector<std::uint64_t> bad_packets) {
  Counter sent{.name = "port_xmit_data", .values = {}};
  for (std::uint64_t i = 0; i < bad_packets.size(); ++i) sent.values.push_back(i * mb * kMb);
  const Counter bad{.name = "out_of_sequence", .unit = CounterUnit::kPackets, .values = std::move(bad_packets)};
  return {.node = node, .name = name, .driver = "mlx5_core", .counters = {bad, sent}};
}

Intervals seconds(std::int64_t from, std::int64_t to) {
  Intervals when;
  when.add({from * kS, to * kS});
  when.settle();
  return when;
}

const std::vector<std::uint64_t> kSound(8, 0);

std::vector<Port> three_sound_and(Port fourth) {
  return {port(0, "mlx5_0", 100, kSound), port(0, "mlx5_1", 101, kSound), port(1, "mlx5_0", 99, kSound),
          std::move(fourth)};
}

TEST(FindSlowPort, NamesThePortThatMovesLessAndLosesPackets) {
  const auto run = test::sampled_run(2, three_sound_and(port(1, "mlx5_1", 50, {0, 10, 20, 30, 40, 50, 60, 70})));
  const PortEvidence found = find_slow_port(run, seconds(1, 6));
  ASSERT_TRUE(found.port);
  EXPECT_EQ(found.port->nic, 3U);
  EXPECT_NEAR(found.port->share_of_peers, 0.5, 0.01);
  EXPECT_EQ(found.port->trouble, "out_of_sequence");
  EXPECT_EQ(found.n_ports, 4U);
  EXPECT_THAT(words_of(run, *found.port), testing::HasSubstr("mlx5_1 on n1 moved 0.50 of what its peers did"));
}

TEST(FindSlowPort, LooksAtTheStretchAlone) {
  const auto run = test::sampled_run(2, three_sound_and(port(1, "mlx5_1", 50, {0, 90, 90, 90, 90, 90, 90, 90})));
  EXPECT_TRUE(find_slow_port(run, seconds(0, 3)).port);
  EXPECT_FALSE(find_slow_port(run, seconds(3, 7)).port);
}

TEST(FindSlowPort, TakesReadingsAroundTheStretchOfACounterThatIsReadSeldom) {
  const auto run = test::sampled_run(
      2, three_sound_and(port(1, "mlx5_1", 50, {0, kNoSample, kNoSample, kNoSample, kNoSample, kNoSample, 80, 80})));
  EXPECT_TRUE(find_slow_port(run, seconds(2, 5)).port);
}

TEST(FindSlowPort, DoesNotNameAPortThatMerelyMovesLess) {
  EXPECT_FALSE(
      find_slow_port(test::sampled_run(2, three_sound_and(port(1, "mlx5_1", 50, kSound))), seconds(1, 6)).port);
}

TEST(FindSlowPort, DoesNotNameOneWhereAllAreBad) {
  std::vector<Port> ports;
  for (std::uint32_t i = 0; i < 4; ++i) {
    ports.push_back(port(i / 2, i % 2 == 0 ? "mlx5_0" : "mlx5_1", 100, {0, 10, 20, 30, 40, 50, 60, 70}));
  }
  EXPECT_FALSE(find_slow_port(test::sampled_run(2, ports), seconds(1, 6)).port);
}

TEST(FindSlowPort, SaysThatReadingsAreTooFew) {
  const auto run = test::sampled_run(2, three_sound_and(port(1, "mlx5_1", 50, {0, 10, 20, 30, 40, 50, 60, 70})));
  Intervals when;
  when.add({kS * 5 / 4, kS * 3 / 2});
  when.settle();
  const PortEvidence found = find_slow_port(run, when);
  EXPECT_TRUE(found.is_too_coarse);
  EXPECT_FALSE(found.port);
  EXPECT_FALSE(find_slow_port(runfile::RunTables{}, when).has_counters);
}

}  // namespace
}  // namespace jaxprof::study
