// Spools whose clocks say what no clock says, or each other's opposite: what cannot be is left out and told, and what
// is left gives times that can be added and subtracted, whatever they are worth. The sanitisers of the preset `dev`
// watch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "merge/clock/plausible.h"
#include "merge/runfile/check.h"
#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/rundir/node_spool.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;
using spool::Stamp;
using test::findings;
using test::NodeSpool;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

class HostileClocks : public testing::Test {
 protected:
  std::string state() const { return run_layout::run_state_directory(folder_.path(), "7.0.0"); }
  RunTables assemble() {
    AssembledRun run = folder_.assemble();
    const auto checked = runfile::check_run(run.tables, runfile::Extent::kWhole, runfile::table_rows(run.tables));
    EXPECT_TRUE(checked) << checked.error().message;
    return std::move(run.tables);
  }

  // Each second from `raw_ns` on, with a wall clock that began with the epoch.
  static void read_clocks(std::int64_t raw_ns, NodeSpool* spool, std::int64_t set_by_ns = 0) {
    std::vector<spool::ClockReading> readings;
    for (std::int64_t second = 0; second < 10; ++second) {
      const std::int64_t now_ns = raw_ns + second * kSecond;
      readings.push_back({now_ns, second * kSecond + (second < 5 ? 0 : set_by_ns), now_ns, 40});
      spool->anchor({static_cast<std::uint64_t>(now_ns), now_ns, readings.back().wall_ns, now_ns, 40});
    }
    spool->clock_readings(readings);
  }
  // A request at `client_ns` that is answered at `server_ns`, 30 µs away.
  static spool::ProbeExchange exchange(std::int64_t client_ns, std::int64_t server_ns) {
    spool::ProbeExchange exchange;
    exchange.at(Stamp::kClientSendRaw) = client_ns;
    exchange.at(Stamp::kServerReceiveRaw) = server_ns;
    exchange.at(Stamp::kServerSendRaw) = server_ns + 1'000;
    exchange.at(Stamp::kClientReceiveRaw) = client_ns + 61'000;
    return exchange;
  }

  test::RunFolder folder_;
};

TEST_F(HostileClocks, ReadingsThatNoClockShowsAreToldAndHarmNobody) {
  test::Recording recording(0, 1);
  recording.anchor({0, 0, kSecond, 0, 20});
  recording.anchor({5, INT64_MIN, 2 * kSecond, 0, 20});
  recording.anchor({9 * 1'000'000'000ULL, 9 * kSecond, 10 * kSecond, 0, 20});
  recording.anchor({10, 9 * kSecond, INT64_MAX, 0, 20});
  folder_.add_rank(recording, 0, 1, "n0");
  NodeSpool observer("n0");
  read_clocks(0, &observer);
  observer.anchor({0, INT64_MAX, INT64_MIN, 0, 1});
  observer.clock_readings({{-7, 5, 5, 5}, {INT64_MIN, INT64_MAX, 0, 0}});
  observer.write(state());
  const RunTables run = assemble();
  EXPECT_THAT(findings(run, "spool.implausible"), ElementsAre(HasSubstr("2 readings of its clocks that no clock")));
  EXPECT_THAT(findings(run, "node.implausible"), ElementsAre(HasSubstr("3 readings of its clocks that no clock")));
  EXPECT_EQ(run.attributes.epoch_unix_ns, kSecond);
  EXPECT_EQ(run.processes.end_ns[0], 9 * kSecond);
}

// Its other observer was probed, this one, in a container, was not; both saw the wall clock being set.
TEST_F(HostileClocks, AStepOfAnObserverThatNobodyProbedHasTheModelOfItsNode) {
  NodeSpool client("n0");
  read_clocks(100 * kSecond, &client);
  client.clock_service("tsc", true);
  client.clock_peer(0, "n1");
  for (std::uint32_t burst = 0; burst < 9; ++burst) {
    client.clock_burst({0,
                        burst,
                        spool::BurstKind::kPeriodic,
                        1,
                        {exchange((100 + burst) * kSecond + 7, (500 + burst) * kSecond + 30'007)}});
  }
  client.write(state());
  NodeSpool probed("n1");
  read_clocks(500 * kSecond, &probed, 3 * kSecond);
  probed.clock_service();
  probed.write(state());
  NodeSpool contained("n1", 1);
  contained.set(spool::IdentityKey::kTimeNamespace, 4026532999);
  contained.set_text(spool::IdentityKey::kBootId, "n1-boot");
  read_clocks(7'000 * kSecond, &contained, 3 * kSecond);
  contained.write(state(), 1);
  EXPECT_THAT(findings(assemble(), "clock.step"),
              ElementsAre(HasSubstr("node n1: the wall clock was set by 3000000000")));
}

// Three nodes whose clocks lie where clocks may, and say of each other what cannot be true.
TEST_F(HostileClocks, TimesStayOnTheAxisWhateverProbesSay) {
  constexpr std::array kAnything = {std::int64_t{0},    std::int64_t{1},         kSecond,
                                    90'000 * kSecond,   clock::kLastRawNs / 2,   clock::kLastRawNs - 20 * kSecond,
                                    clock::kLastRawNs,  clock::kLastRawNs + 1,   clock::kLastWallNs - 20 * kSecond,
                                    clock::kLastWallNs, clock::kLastWallNs + 1,  std::int64_t{-1},
                                    -kSecond,           std::int64_t{INT64_MAX}, std::int64_t{INT64_MIN}};
  constexpr std::size_t kPossible = 6;  // of them, with the seconds of a run behind them
  std::mt19937_64 random(20261130);
  const auto anything = [&] { return kAnything[random() % kAnything.size()]; };
  const auto possible = [&] { return kAnything[random() % kPossible]; };
  std::size_t models = 0;
  for (int round = 0; round < 150; ++round) {
    const std::array<std::int64_t, 3> begins = {possible(), possible(), possible()};
    for (std::uint32_t node = 0; node < 3; ++node) {
      NodeSpool spool("n" + std::to_string(node));
      spool.clock_service(random() % 8 == 0 ? "hpet" : "tsc");
      spool.clock_service("tsc", false, static_cast<std::uint64_t>(anything()));
      std::vector<spool::ClockReading> readings;
      for (std::int64_t second = 0; second < 8; ++second) {
        const std::int64_t raw_ns = (random() % 4 == 0 ? anything() : begins[node] + second * kSecond);
        const std::int64_t wall_ns = random() % 2 == 0 ? anything() : second * kSecond;
        readings.push_back(
            {raw_ns, wall_ns, anything(), static_cast<std::uint32_t>(random() % 3 == 0 ? random() : 40)});
        if (second % 3 == 0) spool.anchor({static_cast<std::uint64_t>(raw_ns), raw_ns, wall_ns, 0, random() % 100});
      }
      spool.clock_readings(readings);
      for (std::uint32_t peer = 0; peer < node; ++peer) {
        spool.clock_peer(peer, "n" + std::to_string(peer));
        for (std::uint32_t number = 0; number < 6; ++number) {
          spool::ProbeBurst burst{peer, number, spool::BurstKind::kPeriodic, 3, {}};
          const std::int64_t client_ns = random() % 5 == 0 ? possible() : begins[node];
          const std::int64_t server_ns = random() % 5 == 0 ? possible() : begins[peer];
          for (int i = 0; i < 2; ++i) {
            const std::int64_t since_ns = (2 * number + (random() % 7 == 0 ? 1 : 0)) * kSecond + i * 100'000;
            burst.exchanges.push_back(exchange(client_ns + since_ns, server_ns + since_ns));
            for (const Stamp wall : {Stamp::kClientSendWall, Stamp::kServerReceiveWall, Stamp::kServerSendWall,
                                     Stamp::kClientReceiveWall}) {
              if (random() % 2 == 0) burst.exchanges.back().at(wall) = random() % 2 == 0 ? anything() : since_ns;
            }
          }
          spool.clock_burst(burst);
        }
      }
      spool.write(state());
    }
    const RunTables run = assemble();
    models += run.clock_links.a.size();
    for (const std::int64_t time_ns : run.clock_model.time_ns) {
      ASSERT_TRUE(clock::is_plausible_wall(time_ns + run.attributes.epoch_unix_ns)) << "round " << round;
    }
    for (const std::int64_t raw_ns : run.clock_anchors.raw_ns) ASSERT_TRUE(clock::is_plausible_raw(raw_ns));
  }
  EXPECT_GT(models, 100U) << "else the rounds tested nothing";
}

}  // namespace
}  // namespace jaxprof::assembly
