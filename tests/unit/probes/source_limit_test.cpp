#include "netsampler/clock/source_limit.h"

#include <gtest/gtest.h>

#include "netsampler/clock/receive_budget.h"
#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(SourceLimit, TwoThousandAtOnceAndAsManyASecond) {
  SourceLimit limit;
  const PeerAddress source = test::sample_address();
  std::int64_t n_admitted = 0;
  // 10,000 packets a second for 10 s: 2000 at once, then 2000 a second.
  for (std::int64_t i = 0; i < 100'000; ++i) n_admitted += limit.admits(source, 5 * kSecond + i * kSecond / 10'000);
  EXPECT_NEAR(static_cast<double>(n_admitted), 2000 + 10 * 2000, 1);
}

TEST(SourceLimit, ASlowSenderIsNeverLimited) {
  SourceLimit limit;
  const PeerAddress source = test::sample_address();
  for (std::int64_t i = 0; i < 20'000; ++i) EXPECT_TRUE(limit.admits(source, i * kSecond / 2000)) << i;
}

TEST(SourceLimit, AfterASilenceABurstIsAdmittedAgain) {
  SourceLimit limit;
  const PeerAddress source = test::sample_address();
  while (limit.admits(source, 0)) {
  }
  EXPECT_FALSE(limit.admits(source, 0));
  int n_admitted = 0;
  while (limit.admits(source, kSecond)) ++n_admitted;
  EXPECT_EQ(n_admitted, 2000);
}

TEST(SourceLimit, OneSendersFloodIsNotAnothers) {
  SourceLimit limit;
  while (limit.admits(test::sample_address("10.0.0.1"), 0)) {
  }
  // They may share a place with it, one in 4096 does.
  int n_admitted = 0;
  for (int i = 2; i < 202; ++i)
    n_admitted += limit.admits(test::sample_address(("10.0.0." + std::to_string(i)).c_str()), 0);
  EXPECT_GE(n_admitted, 190);
}

TEST(SourceLimit, PortsOfOneAddressCountTogether) {
  SourceLimit limit;
  PeerAddress source = test::sample_address();
  int n_admitted = 0;
  for (int i = 0; i < 5000; ++i) {
    source.port = static_cast<std::uint16_t>(i);
    n_admitted += limit.admits(source, 0);
  }
  EXPECT_EQ(n_admitted, 2000);
}

TEST(ReceiveBudget, TwoHundredInTenMilliseconds) {
  ReceiveBudget budget;
  int n_read = 0;
  for (std::int64_t now_ns = kSecond; now_ns < 2 * kSecond; now_ns += 10'000) {
    if (budget.left(now_ns) <= 0) continue;
    budget.use();
    ++n_read;
  }
  EXPECT_EQ(n_read, 20'000);
  EXPECT_EQ(budget.left(2 * kSecond), 200);
  for (int i = 0; i < 200; ++i) budget.use();
  EXPECT_EQ(budget.left(2 * kSecond + 9'999'999), 0);
  EXPECT_EQ(budget.end_ns(), 2 * kSecond + 10'000'000);
  EXPECT_EQ(budget.left(2 * kSecond + 10'000'000), 200);
}

}  // namespace
}  // namespace jaxprof::netsampler
