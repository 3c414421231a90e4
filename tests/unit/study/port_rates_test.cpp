#include "merge/study/port_rates.h"

#include <gtest/gtest.h>

#include "merge/study/port_traffic.h"
#include "tests/unit/study/sampled_run.h"

namespace jaxprof::study {
namespace {

using runfile::CounterUnit;

TEST(PortRates, HasAnIntervalFromReadingToReading) {
  const auto run = test::sampled_run(
      1, {{0,
           "a",
           "efa",
           100,
           false,
           {{"tx_bytes", CounterUnit::kBytes, {5, 7, 17}}, {"rx_bytes", CounterUnit::kBytes, {0, 1, 1}}}}});
  const auto ports = port_rates(run);
  ASSERT_EQ(ports.size(), 1U);
  ASSERT_EQ(ports[0].out.size(), 2U);
  EXPECT_EQ(ports[0].out[1].amount, 10);
  EXPECT_EQ(ports[0].out[1].end_ns - ports[0].out[1].begin_ns, 1e9);
  EXPECT_EQ(ports[0].out[0].end_ns, ports[0].out[1].begin_ns);
  EXPECT_EQ(ports[0].in[1].amount, 0);
}

TEST(PortRates, LeavesOutWhereTheCounterWentBack) {
  const auto run =
      test::sampled_run(1, {{0, "a", "efa", 100, false, {{"tx_bytes", CounterUnit::kBytes, {5, 9, 1, 3}}}}});
  const auto ports = port_rates(run);
  ASSERT_EQ(ports.size(), 1U);
  ASSERT_EQ(ports[0].out.size(), 2U);
  EXPECT_EQ(ports[0].out[0].amount, 4);
  EXPECT_EQ(ports[0].out[1].amount, 2);
}

TEST(PortRates, AddsUpToTheTotalOfTheStudy) {
  const auto run =
      test::sampled_run(2, {{0, "a", "efa", 100, false, {{"tx_bytes", CounterUnit::kBytes, {5, 9, 1, 3, 8}}}},
                            {1, "b", "efa", 100, false, {{"tx_bytes", CounterUnit::kBytes, {0, 1, 2, 3, 4}}}}});
  const auto ports = port_rates(run);
  const auto sums = port_traffic(run);
  ASSERT_EQ(ports.size(), sums.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    double amount = 0;
    for (const GrowthSpan& span : ports[i].out) amount += span.amount;
    EXPECT_EQ(amount, sums[i].of(Traffic::kOutBytes)->total);
  }
}

TEST(PortRates, HasNoPortWithoutBytes) {
  EXPECT_TRUE(
      port_rates(test::sampled_run(1, {{0, "a", "efa", 100, false, {{"tx_pkts", CounterUnit::kPackets, {0, 1}}}}}))
          .empty());
}

}  // namespace
}  // namespace jaxprof::study
