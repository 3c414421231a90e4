// Properties of client and server together in any weather: a stamp in a burst is the true one of that packet or absent,
// and a burst ends.
#include "tests/unit/probes/lossy_run.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

using spool::Stamp;

constexpr std::array kStamps = {Stamp::kClientSendRaw,     Stamp::kClientSendWall,  Stamp::kServerReceiveWall,
                                Stamp::kServerReceiveRaw,  Stamp::kServerSendRaw,   Stamp::kServerSendWall,
                                Stamp::kClientReceiveWall, Stamp::kClientReceiveRaw};
constexpr std::array kRawStamps = {Stamp::kClientSendRaw, Stamp::kServerReceiveRaw, Stamp::kServerSendRaw,
                                   Stamp::kClientReceiveRaw};

struct Tally {
  std::size_t n_sent = 0;
  std::size_t n_exchanges = 0;
  std::size_t n_missing_stamps = 0;
};

void expect_truth(const test::LossyRun& run, const spool::ProbeBurst& burst, Tally* tally) {
  tally->n_sent += burst.sent;
  tally->n_exchanges += burst.exchanges.size();
  EXPECT_TRUE(std::is_sorted(burst.exchanges.begin(), burst.exchanges.end(), [](const auto& a, const auto& b) {
    return a.sequence <= b.sequence;
  })) << "by sequence, each once";
  for (const spool::ProbeExchange& exchange : burst.exchanges) {
    const spool::ProbeExchange& truth = run.truth(burst.burst, exchange.sequence);
    for (const Stamp stamp : kStamps) {
      if (!exchange.has(stamp)) {
        ++tally->n_missing_stamps;
        continue;
      }
      ASSERT_EQ(exchange.at(stamp), truth.at(stamp))
          << "burst " << burst.burst << ", sequence " << exchange.sequence << ", stamp " << static_cast<int>(stamp);
    }
    for (const Stamp stamp : kRawStamps) ASSERT_TRUE(exchange.has(stamp)) << "the program's own are always there";
  }
}

TEST(LossyRun, InGoodWeatherAllStampsAreThere) {
  test::LossyRun run({}, 1);
  Tally tally;
  for (std::uint32_t burst = 0; burst < 50; ++burst) expect_truth(run, run.run_burst(burst, 16), &tally);
  EXPECT_EQ(tally.n_exchanges, 50U * 16);
  EXPECT_EQ(tally.n_missing_stamps, 0U);
  EXPECT_EQ(run.n_unpaired(), 0U);
  EXPECT_EQ(run.server_counts().replayed, 0U);
}

class InAnyWeather : public testing::TestWithParam<std::uint64_t> {};

TEST_P(InAnyWeather, AStampIsTheTrueOneOrAbsent) {
  std::mt19937_64 random(GetParam());
  const auto up_to = [&random](double most) { return std::uniform_real_distribution<>(0, most)(random); };
  for (int i = 0; i < 40; ++i) {
    const test::Weather weather{up_to(0.5), up_to(0.5), up_to(0.2), up_to(0.5),
                                static_cast<std::int64_t>(1'000 + up_to(60'000'000))};
    test::LossyRun run(weather, random());
    Tally tally;
    for (std::uint32_t life = 0; life < 3; ++life) {
      for (std::uint32_t burst = 0; burst < 8; ++burst) {
        const std::int64_t begin_ns = run.now_ns();
        const spool::ProbeBurst made = run.run_burst(burst, static_cast<std::uint32_t>(1 + random() % 64));
        expect_truth(run, made, &tally);
        EXPECT_LE(run.now_ns() - begin_ns, (made.sent + 2) * 200'000'000LL) << "every question ends within 200 ms";
      }
      run.restart_client();
    }
    EXPECT_LE(tally.n_exchanges, tally.n_sent);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, InAnyWeather, testing::Range<std::uint64_t>(1, 7));

TEST(LossyRun, BadWeatherIsSeenInTheCounts) {
  test::LossyRun run({0.1, 0.3, 0.05, 0.1, 3'000'000}, 3);
  Tally tally;
  for (std::uint32_t burst = 0; burst < 200; ++burst) expect_truth(run, run.run_burst(burst, 16), &tally);
  EXPECT_GT(tally.n_exchanges, 1000U);
  EXPECT_LT(tally.n_exchanges, tally.n_sent);
  EXPECT_GT(tally.n_missing_stamps, 100U);
  EXPECT_GT(run.n_unpaired(), 100U);
  EXPECT_GT(run.server_counts().replayed, 100U);
  EXPECT_GT(run.server_counts().wrong_mac, 10U);
  EXPECT_GT(run.client_counts().wrong_mac, 10U);
}

}  // namespace
}  // namespace jaxprof::netsampler
