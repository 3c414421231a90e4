// Nodes whose clocks are known, what their observers would have recorded of each other, and where the merge puts their
// events: the same instant must come out as the same time, on whatever node it was.
#include "merge/assembly/run_clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "merge/runfile/check.h"
#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/match/nccl_recording.h"
#include "tests/unit/rundir/node_spool.h"

namespace jaxprof::assembly {
namespace {

using runfile::ClockMethod;
using runfile::RunTables;
using spool::Stamp;
using test::codes;
using test::findings;
using test::NodeSpool;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kRunSeconds = 20;
constexpr std::int64_t kEpoch = 1'700'000'000 * kSecond;

// A node's clocks as functions of the true time, ns from the run's start.
struct TrueClock {
  std::string host;
  std::int64_t raw_at_start_ns = 0;
  double ppm = 0;
  std::int64_t wall_error_ns = 0;
  std::int64_t jump_at_ns = INT64_MAX;  // of the raw clock alone; the counter of events goes on
  std::int64_t jump_ns = 0;
  std::int64_t counter(std::int64_t t) const {
    return raw_at_start_ns + t + std::llround(ppm * 1e-6 * static_cast<double>(t));
  }
  std::int64_t raw(std::int64_t t) const { return counter(t) + (t >= jump_at_ns ? jump_ns : 0); }
  std::int64_t wall(std::int64_t t) const { return kEpoch + t + wall_error_ns; }
};

const TrueClock kFirst{"n0", 5'000 * kSecond, 0, 0};
const TrueClock kSecondNode{"n1", 90'000 * kSecond, 40, 3 * kSecond};
const TrueClock kThird{"n2", 70 * kSecond, -30, -2 * kSecond};

class RunClocksTest : public testing::Test {
 protected:
  std::string state() const { return run_layout::run_state_directory(folder_.path(), "7.0.0"); }

  static spool::AnchorRecord anchor_of(const TrueClock& clock, std::int64_t t, std::int64_t raw_shift_ns = 0) {
    const std::int64_t raw = clock.raw(t);
    return {static_cast<std::uint64_t>(clock.counter(t)), raw + raw_shift_ns, clock.wall(t), raw, 40};
  }

  // An observer that reads its clocks ten times a second.
  static NodeSpool observer_of(const TrueClock& clock) {
    NodeSpool spool(clock.host);
    std::vector<spool::ClockReading> readings;
    for (std::int64_t t = 0; t <= kRunSeconds * kSecond; t += kSecond / 10) {
      readings.push_back({clock.raw(t), clock.wall(t), clock.raw(t), 40});
      if (t % kSecond == 0) spool.anchor(anchor_of(clock, t));
    }
    spool.clock_readings(readings);
    return spool;
  }

  // `client` asks `server` every second; packets need 2 µs and up to 20 µs more.
  void probe(NodeSpool* spool, std::uint32_t peer, const TrueClock& client, const TrueClock& server,
             std::uint32_t burst_count = kRunSeconds) {
    std::uniform_int_distribution<std::int64_t> more(0, 20'000);
    spool->clock_peer(peer, server.host);
    for (std::uint32_t burst = 0; burst < burst_count; ++burst) {
      spool::ProbeBurst probes{peer, burst, spool::BurstKind::kPeriodic, 16, {}};
      std::int64_t t = burst * kSecond + 300'000'000;
      for (std::uint32_t sequence = 0; sequence < 16; ++sequence) {
        spool::ProbeExchange exchange;
        exchange.sequence = sequence;
        const std::int64_t arrival = t + 2'000 + (sequence % 3 == 0 ? 0 : more(random_));
        const std::int64_t answer = arrival + 30'000;
        const std::int64_t back = answer + 2'000 + (sequence % 4 == 0 ? 0 : more(random_));
        exchange.at(Stamp::kClientSendRaw) = client.raw(t - 4'000);
        exchange.at(Stamp::kClientSendWall) = client.wall(t);
        exchange.at(Stamp::kServerReceiveWall) = server.wall(arrival);
        exchange.at(Stamp::kServerReceiveRaw) = server.raw(arrival + 10'000);
        exchange.at(Stamp::kServerSendRaw) = server.raw(answer - 5'000);
        exchange.at(Stamp::kServerSendWall) = server.wall(answer);
        exchange.at(Stamp::kClientReceiveWall) = client.wall(back);
        exchange.at(Stamp::kClientReceiveRaw) = client.raw(back + 9'000);
        probes.exchanges.push_back(exchange);
        t = back + 100'000;
      }
      spool->clock_burst(probes);
    }
  }

  // A rank that calls one AllReduce at each of `times`, true ns.
  void add_rank(const TrueClock& clock, std::int32_t rank, std::int32_t world, const std::vector<std::int64_t>& times,
                std::int64_t raw_shift_ns = 0, std::int64_t time_namespace = 4026531834) {
    test::NcclRecording recording(rank, world);
    recording.set(spool::IdentityKey::kHost, clock.host);
    recording.set(spool::IdentityKey::kBootId, clock.host + "-boot");
    recording.set(spool::IdentityKey::kTimeNamespace, time_namespace);
    for (std::int64_t t = 0; t <= kRunSeconds * kSecond; t += kSecond) {
      recording.anchor(anchor_of(clock, t, raw_shift_ns));
    }
    test::Call call;
    for (const std::int64_t t : times) {
      recording.whole_call(call, "ncclAllReduce", static_cast<std::uint64_t>(clock.counter(t)));
      ++call.sequence;
    }
    folder_.add_rank(recording, rank, world, clock.host);
  }

  RunTables assemble() {
    AssembledRun run = folder_.assemble();
    const auto checked = runfile::check_run(run.tables, runfile::Extent::kWhole, runfile::table_rows(run.tables));
    EXPECT_TRUE(checked) << checked.error().message;
    return std::move(run.tables);
  }

  test::RunFolder folder_;
  std::mt19937_64 random_{11};
};

TEST_F(RunClocksTest, OneInstantIsOneTimeOnEveryNode) {
  const std::vector<std::int64_t> times = {kSecond, 7 * kSecond, 19 * kSecond};
  add_rank(kFirst, 0, 3, times);
  add_rank(kSecondNode, 1, 3, {times[0] + 30'000, times[1] + 30'000, times[2] + 30'000});
  add_rank(kThird, 2, 3, times);
  NodeSpool first = observer_of(kFirst);
  first.clock_service("tsc", true);
  first.write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst);
  probe(&second, 1, kSecondNode, kThird);
  second.write(state());
  NodeSpool third = observer_of(kThird);
  third.clock_service();
  probe(&third, 0, kThird, kFirst);
  third.write(state());

  const RunTables run = assemble();
  EXPECT_THAT(codes(run), IsEmpty());
  EXPECT_EQ(run.attributes.clock_method, "udp_kernel_stamps");
  EXPECT_THAT(run.clock_nodes.method,
              ElementsAre(ClockMethod::kReference, ClockMethod::kUdpKernelStamps, ClockMethod::kUdpKernelStamps));
  EXPECT_NEAR(static_cast<double>(run.clock_nodes.wall_offset_ns[1]), 3e9, 1e5);
  EXPECT_NEAR(static_cast<double>(run.clock_nodes.wall_offset_ns[2]), -2e9, 1e5);
  EXPECT_NEAR(run.clock_nodes.drift_ppb[1], -40'000, 100);
  ASSERT_EQ(run.collectives.first_enqueue_ns.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto spread = static_cast<double>(run.collectives.last_enqueue_ns[i] - run.collectives.first_enqueue_ns[i]);
    EXPECT_NEAR(spread, 30'000, 1'000) << "the second rank is late, and stays as late as it was";
    EXPECT_EQ(run.collectives.last_member[i], 1);
    EXPECT_GT(run.collectives.clock_bound_ns[i], 0);
    EXPECT_LT(run.collectives.clock_bound_ns[i], 12'000);
    EXPECT_EQ(run.collectives.flags[i], runfile::kInstanceCertain);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t start_ns = run.nccl.start_ns[i] + run.attributes.epoch_unix_ns;
    EXPECT_NEAR(static_cast<double>(start_ns - kFirst.wall(times[i])), 0, 1'000) << "the axis is the first node's";
  }
}

TEST_F(RunClocksTest, TheModelGivesTheRawStampBack) {
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {11 * kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst);
  second.write(state());
  const RunTables run = assemble();
  const std::int64_t time_ns = run.nccl.start_ns[run.nccl_process_offset[1]];
  const runfile::ClockModelTable& model = run.clock_model;
  std::size_t knot = run.clock_model_offset[1];
  while (knot + 2 < run.clock_model_offset[2] && model.time_ns[knot + 1] <= time_ns) ++knot;
  const double share = static_cast<double>(time_ns - model.time_ns[knot]) /
                       static_cast<double>(model.time_ns[knot + 1] - model.time_ns[knot]);
  const double raw_ns = share * static_cast<double>(model.raw_ns[knot + 1] - model.raw_ns[knot]);
  EXPECT_NEAR(static_cast<double>(kSecondNode.raw(11 * kSecond) - model.raw_ns[knot]), raw_ns, 100);
}

// Its firewall closed after three seconds: what is not known any more is in every figure that is told.
TEST_F(RunClocksTest, TheBoundGrowsWhereProbesHaveEnded) {
  add_rank(kFirst, 0, 2, {kSecond, 19 * kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond, 19 * kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst, 3);
  second.write(state());
  const RunTables run = assemble();
  ASSERT_EQ(run.collectives.clock_bound_ns.size(), 2u);
  EXPECT_GT(run.collectives.clock_bound_ns[1], run.collectives.clock_bound_ns[0] + 5'000);
  EXPECT_GE(run.clock_nodes.bound_ns[1], run.collectives.clock_bound_ns[1]);
  EXPECT_GE(run.attributes.clock_bound_ns, run.collectives.clock_bound_ns[1]);
  EXPECT_GE(run.attributes.clock_sigma_ns, run.collectives.clock_sigma_ns[1]);
  const std::size_t last_knot = run.clock_model_offset[2] - 1;
  EXPECT_NEAR(static_cast<double>(run.clock_model.raw_ns[last_knot] - kSecondNode.raw(kRunSeconds * kSecond)), 0, 10)
      << "the model reaches to the node's last reading of a clock";
  EXPECT_THAT(findings(run, "clock.gap"), ElementsAre(HasSubstr("node n1: no probe of its clock was answered for 17")));
}

TEST_F(RunClocksTest, ANodeThatNobodyReachesStaysOnItsWallClockAndIsNamed) {
  add_rank(kFirst, 0, 3, {kSecond});
  add_rank(kSecondNode, 1, 3, {kSecond});
  add_rank(kThird, 2, 3, {kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst);
  second.write(state());
  NodeSpool third = observer_of(kThird);
  third.clock_service("tsc", false, 0, "cannot open a port: all are taken");
  third.write(state());
  const RunTables run = assemble();
  EXPECT_EQ(run.attributes.clock_method, "mixed");
  EXPECT_TRUE(std::isnan(run.attributes.clock_bound_ns));
  EXPECT_EQ(run.clock_nodes.method[2], ClockMethod::kWallClockUnknown);
  EXPECT_THAT(findings(run, "clock.unknown"),
              ElementsAre(testing::AllOf(HasSubstr("node n2: "), HasSubstr("cannot open a port: all are taken"))));
  EXPECT_EQ(run.collectives.flags.at(0), runfile::kInstanceUnresolved);
}

TEST_F(RunClocksTest, WallClocksThatTheirKernelsVouchForHaveABound) {
  for (const TrueClock* clock : {&kFirst, &kSecondNode}) {
    NodeSpool spool = observer_of(*clock);
    spool.clock_service("tsc", false, 0, "no route to other nodes");
    spool::ClockDisciplineState told{};
    told.max_error_ns = 2'000'000;
    spool.state(spool::StateKind::kClockDiscipline, told);
    spool.write(state());
  }
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond});
  const RunTables run = assemble();
  EXPECT_EQ(run.clock_nodes.method[1], ClockMethod::kWallClock);
  EXPECT_EQ(run.attributes.clock_method, "wall_clock");
  EXPECT_NEAR(run.attributes.clock_bound_ns, 4'000'000, 1'000);
  EXPECT_THAT(findings(run, "clock.wall"), ElementsAre(HasSubstr("no route to other nodes")));
}

TEST_F(RunClocksTest, ProcessesOfAContainerWithAShiftedClockAreOnTheSameAxis) {
  const std::vector<std::int64_t> times = {2 * kSecond, 15 * kSecond};
  add_rank(kFirst, 0, 2, times);
  add_rank(kSecondNode, 1, 2, times, 12'345 * kSecond + 678, 4026532999);
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst);
  second.write(state());
  const RunTables run = assemble();
  ASSERT_EQ(run.collectives.first_enqueue_ns.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(run.collectives.last_enqueue_ns[i] - run.collectives.first_enqueue_ns[i], 1'000);
  }
}

TEST_F(RunClocksTest, TheNamedReferenceIsTheOneWhereverItsRanksAre) {
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service("tsc", true);
  probe(&second, 0, kSecondNode, kFirst);
  second.write(state());
  const RunTables run = assemble();
  EXPECT_THAT(run.clock_audit.reference, ElementsAre(1u));
  EXPECT_EQ(run.clock_nodes.method[1], ClockMethod::kReference);
  EXPECT_NEAR(static_cast<double>(run.clock_nodes.wall_offset_ns[0]), -3e9, 1e5);
}

TEST_F(RunClocksTest, AChangeOfTheClockSourceIsTold) {
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service("tsc");
  second.clock_service("hpet", false, static_cast<std::uint64_t>(kSecondNode.raw(10 * kSecond)));
  probe(&second, 0, kSecondNode, kFirst);
  second.write(state());
  const RunTables run = assemble();
  EXPECT_THAT(findings(run, "clock.source"), Contains(HasSubstr("node n1")));
  EXPECT_EQ(run.strings.text(run.clock_nodes.clocksource[1]), "tsc|hpet");
}

TEST_F(RunClocksTest, ARawClockThatJumpsIsToldAsSuchAndPutsNoEventInAnotherPlace) {
  TrueClock jumping = kSecondNode;
  jumping.jump_at_ns = 9'900'000'000;
  jumping.jump_ns = 400'000;
  // Between the bursts around the jump nobody knows; before them and behind all is as ever.
  const std::vector<std::int64_t> times = {kSecond,        9'200'000'000,  9'800'000'000,
                                           10'200'000'000, 10'400'000'000, 15 * kSecond};
  add_rank(kFirst, 0, 3, times);
  add_rank(jumping, 1, 3, times);
  add_rank(kThird, 2, 3, times);
  NodeSpool first = observer_of(kFirst);
  first.clock_service("tsc", true);
  first.write(state());
  NodeSpool second = observer_of(jumping);
  second.clock_service();
  probe(&second, 0, jumping, kFirst);
  probe(&second, 1, jumping, kThird);
  second.write(state());
  NodeSpool third = observer_of(kThird);
  third.clock_service();
  probe(&third, 0, kThird, kFirst);
  third.write(state());

  const RunTables run = assemble();
  EXPECT_THAT(findings(run, "clock.jump"), ElementsAre(HasSubstr("node n1")));
  EXPECT_THAT(findings(run, "clock.step"), IsEmpty()) << "nobody set the wall clock";
  ASSERT_EQ(run.collectives.first_enqueue_ns.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_LT(run.collectives.last_enqueue_ns[i] - run.collectives.first_enqueue_ns[i], 1'000) << i;
  }
}

TEST_F(RunClocksTest, TheReferenceHasOneLineForTheWholeRun) {
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst);
  second.write(state());
  const RunTables run = assemble();
  ASSERT_EQ(run.clock_model_offset[1], 2u);
  EXPECT_EQ(run.clock_model.raw_ns[1], kFirst.raw(kRunSeconds * kSecond)) << "rounded times far apart make no rate";
}

TEST_F(RunClocksTest, ProbesOfANodeWhoseSpoolIsLostAreCounted) {
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond});
  observer_of(kFirst).write(state());
  NodeSpool second = observer_of(kSecondNode);
  second.clock_service();
  probe(&second, 0, kSecondNode, kFirst);
  probe(&second, 1, kSecondNode, kThird, 7);
  second.write(state());
  const RunTables run = assemble();
  EXPECT_THAT(findings(run, "clock.unpaired"), ElementsAre(HasSubstr("7 bursts of probes could not be used")));
  EXPECT_EQ(run.clock_nodes.method[1], ClockMethod::kUdpKernelStamps);
}

TEST_F(RunClocksTest, ADamagedClockBlockIsTold) {
  add_rank(kFirst, 0, 1, {kSecond});
  NodeSpool first = observer_of(kFirst);
  first.damage_clock();
  first.write(state());
  EXPECT_THAT(findings(assemble(), "node.damaged"), ElementsAre(HasSubstr("1 damaged block")));
}

TEST_F(RunClocksTest, WithoutProbesNothingIsSaidOfThem) {
  add_rank(kFirst, 0, 2, {kSecond});
  add_rank(kSecondNode, 1, 2, {kSecond});
  const RunTables run = assemble();
  EXPECT_EQ(run.attributes.clock_method, "wall_clock");
  EXPECT_THAT(codes(run), Not(Contains(HasSubstr("clock."))));
  EXPECT_THAT(run.clock_nodes.method, ElementsAre(ClockMethod::kReference, ClockMethod::kWallClockUnknown));
}

}  // namespace
}  // namespace jaxprof::assembly
