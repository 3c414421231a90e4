// What observers of nodes left, in the run's tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "merge/assembly/counter_tables.h"
#include "merge/assembly/node_samples.h"
#include "merge/runfile/check.h"
#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/rundir/node_spool.h"

namespace jaxprof::assembly {
namespace {

using runfile::CounterColumn;
using runfile::CounterKind;
using runfile::CounterSubject;
using runfile::CounterTable;
using runfile::CounterUnit;
using runfile::kNoSample;
using runfile::RunTables;
using spool::SampleKind;
using spool::SampleSubject;
using spool::SampleUnit;
using test::NodeSpool;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kSecond = 1'000'000'000;

class CounterTables : public testing::Test {
 protected:
  RunTables assemble() {
    AssembledRun run = folder_.assemble();
    is_partial_ = run.is_partial;
    const auto checked = runfile::check_run(run.tables, runfile::Extent::kWhole, runfile::table_rows(run.tables));
    EXPECT_TRUE(checked) << checked.error().message;
    return std::move(run.tables);
  }
  std::string state() const { return run_layout::run_state_directory(folder_.path(), "7.0.0"); }
  static const CounterColumn& column(const CounterTable& table, std::string_view name) {
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [name](const CounterColumn& c) { return c.name == name; });
    if (found == table.columns.end()) throw std::out_of_range(std::string(name));
    return *found;
  }
  // One EFA port with a fast and a slow column.
  static void add_port(NodeSpool* spool, std::uint32_t nic, const test::PortPlan& plan = {}) {
    spool->port(nic, plan);
    spool->stream(nic, SampleSubject::kNic, nic, {{"tx_bytes", SampleUnit::kBytes}, {"rx_drops", SampleUnit::kPackets}},
                  1);
  }

  test::RunFolder folder_;
  bool is_partial_ = false;
};

TEST_F(CounterTables, HoldTheRowsOfAPortOnTheAxisOfItsProcesses) {
  test::Recording process(0, 1);
  process.push(1, 0, 0, "work", 5 * kSecond);
  process.pop(1, 0, 0, 6 * kSecond);
  folder_.add_rank(process, 0, 1, "n0");
  NodeSpool spool;
  add_port(&spool, 0);
  spool.row(0, 4 * kSecond, {100, 7});
  spool.row(0, 5 * kSecond, {200});
  spool.row(0, 7 * kSecond, {500, 9}, spool::kSampleLast, 33);
  spool.ticks(3, 0, 60'000, 1'000'000);
  spool.write(state());
  const RunTables run = assemble();
  EXPECT_FALSE(is_partial_);
  ASSERT_EQ(run.counters.size(), 1U);
  const CounterTable& efa = run.counters[0];
  EXPECT_EQ(efa.driver, "efa");
  EXPECT_THAT(efa.offset, ElementsAre(0U, 3U));
  EXPECT_EQ(efa.time_ns[1], run.nvtx.start_ns[0]) << "both were read at 5 s";
  EXPECT_EQ(efa.time_ns[2] - efa.time_ns[0], std::int64_t{3 * kSecond});
  EXPECT_THAT(efa.read_ns, ElementsAre(20'000, 20'000, 33'000));
  EXPECT_THAT(efa.flags, ElementsAre(0U, 0U, runfile::kRowLast));
  EXPECT_EQ(column(efa, "tx_bytes").values, (Values{100, 200, 500}));
  EXPECT_EQ(column(efa, "tx_bytes").unit, CounterUnit::kBytes);
  EXPECT_EQ(column(efa, "tx_bytes").kind, CounterKind::kCounter);
  EXPECT_EQ(column(efa, "rx_drops").values, (Values{7, kNoSample, 9})) << "the fast row lacks it";
  ASSERT_EQ(run.nics.nic.size(), 1U);
  EXPECT_EQ(run.nics.node[0], 0U);
  EXPECT_EQ(run.nics.name[0].view(), "rdmap0s6");
  EXPECT_EQ(run.nics.pci[0].view(), "0000:00:06.0");
  EXPECT_EQ(run.nics.source[0], runfile::NicSource::kNetlink);
  EXPECT_DOUBLE_EQ(run.nics.rate_gbps[0], 100);
  EXPECT_EQ(run.nics.period_ns[0], 100'000'000);
  ASSERT_EQ(run.observers.node.size(), 1U);
  EXPECT_EQ(run.observers.ticks[0], 3U);
  EXPECT_EQ(run.observers.cpu_ns[0], 1'000'000);
  EXPECT_EQ(run.observers.is_complete[0], 1);
  EXPECT_THAT(test::codes(run), IsEmpty());
}

TEST_F(CounterTables, GroupPortsByDriverWithTheColumnsOfAll) {
  NodeSpool spool;
  add_port(&spool, 0);
  spool.port(1, {.name = "mlx5_0", .driver = "mlx5_core", .pci = "0000:81:00.0"});
  spool.stream(1, SampleSubject::kNic, 1, {{"port_xmit_data", SampleUnit::kBytes, SampleKind::kCounter, 64, 4}});
  spool.port(2, {.name = "rdmap0s7", .pci = "0000:00:07.0"});
  spool.stream(2, SampleSubject::kNic, 2, {{"tx_bytes", SampleUnit::kBytes}, {"retrans_pkts", SampleUnit::kPackets}});
  spool.row(0, kSecond, {1, 2});
  spool.row(1, kSecond, {3});
  spool.row(2, kSecond, {4, 5});
  spool.write(state());
  const RunTables run = assemble();
  ASSERT_EQ(run.counters.size(), 2U);
  EXPECT_THAT(run.counters[0].offset, ElementsAre(0U, 1U, 1U, 2U)) << "the second port is not EFA";
  EXPECT_EQ(column(run.counters[0], "tx_bytes").values, (Values{1, 4}));
  EXPECT_EQ(column(run.counters[0], "rx_drops").values, (Values{2, kNoSample}));
  EXPECT_EQ(column(run.counters[0], "retrans_pkts").values, (Values{kNoSample, 5}));
  EXPECT_EQ(run.counters[1].driver, "mlx5_core");
  EXPECT_THAT(run.counters[1].offset, ElementsAre(0U, 0U, 1U, 1U));
  EXPECT_EQ(column(run.counters[1], "port_xmit_data").scale, 4U);
}

TEST_F(CounterTables, KeepOneNameWithTwoMeaningsApart) {
  NodeSpool spool;
  add_port(&spool, 0);
  spool.stream(9, SampleSubject::kNic, 0, {{"tx_bytes", SampleUnit::kBytes, SampleKind::kCounter, 32}});
  spool.row(0, kSecond, {1, 2});
  spool.row(9, 2 * kSecond, {3});
  spool.write(state());
  const RunTables run = assemble();
  EXPECT_EQ(column(run.counters[0], "tx_bytes").values, (Values{1, kNoSample}));
  EXPECT_EQ(column(run.counters[0], "tx_bytes~").values, (Values{kNoSample, 3}));
  EXPECT_EQ(column(run.counters[0], "tx_bytes~").bits, 32);
}

TEST_F(CounterTables, ListAPortThatWasNeverRead) {
  NodeSpool spool;
  spool.port(0, {.reason = "no counter answered", .source = spool::NicSource::kNone, .period_ns = 0});
  spool.write(state());
  const RunTables run = assemble();
  EXPECT_TRUE(run.counters.empty());
  ASSERT_EQ(run.nics.nic.size(), 1U);
  EXPECT_EQ(run.strings.text(run.nics.reason[0]), "no counter answered");
  EXPECT_EQ(run.nics.source[0], runfile::NicSource::kNone);
}

// The second numbers the ports in another order, and one has another name by then.
TEST_F(CounterTables, ContinueAPortUnderTheObserverThatTookOver) {
  const test::PortPlan six{.name = "rdmap0s6"};
  const test::PortPlan seven{.name = "rdmap0s7", .pci = "0000:00:07.0", .guid = "07"};
  NodeSpool first;
  add_port(&first, 0, six);
  add_port(&first, 1, seven);
  first.anchor({kSecond, kSecond, 10 * kSecond, kSecond, 1});
  first.anchor({2 * kSecond, 2 * kSecond, 11 * kSecond, 2 * kSecond, 1});
  first.row(0, kSecond, {1, 0});
  first.row(1, kSecond, {2, 0});
  first.note(spool::NodeNote::kNoGpu, "no NVML");
  first.write(state(), 0, false);
  NodeSpool second("n0", 1);
  second.note(spool::NodeNote::kNoGpu, "no NVML");
  add_port(&second, 0, seven);
  add_port(&second, 1, {.name = "efa_6"});
  second.anchor({5 * kSecond, 5 * kSecond, 14 * kSecond, 5 * kSecond, 1});
  second.anchor({6 * kSecond, 6 * kSecond, 15 * kSecond, 6 * kSecond, 1});
  second.row(0, 5 * kSecond, {20, 0});
  second.row(1, 5 * kSecond, {10, 0});
  second.write(state(), 1);
  const RunTables run = assemble();
  ASSERT_EQ(run.nics.nic.size(), 2U);
  EXPECT_EQ(run.nics.name[0].view(), "efa_6") << "what holds at the end";
  EXPECT_THAT(run.counters.at(0).offset, ElementsAre(0U, 2U, 4U));
  EXPECT_EQ(column(run.counters[0], "tx_bytes").values, (Values{1, 10, 2, 20}));
  EXPECT_EQ(run.observers.node.size(), 2U);
  EXPECT_EQ(run.observers.segment[1], 1U);
  EXPECT_THAT(test::codes(run), ElementsAre("gpu.not-watched", "node.gap", "node.killed"));
  EXPECT_THAT(test::findings(run, "gpu.not-watched"), testing::SizeIs(1)) << "said once of a node";
  EXPECT_THAT(test::findings(run, "node.gap")[0], HasSubstr("node n0 was not observed for 3.0 s"));
  EXPECT_FALSE(is_partial_) << "a kill is an observer's normal end";
}

TEST_F(CounterTables, CountAPortOnceThatTwoObserversReadAtATime) {
  NodeSpool longer;
  add_port(&longer, 0);
  for (std::uint64_t i = 0; i < 5; ++i) longer.row(0, i * kSecond, {i, 0});
  longer.write(state(), 0);
  NodeSpool shorter;
  shorter.set(spool::IdentityKey::kPid, 77);
  add_port(&shorter, 0);
  for (std::uint64_t i = 1; i < 4; ++i) shorter.row(0, i * kSecond + 5, {100 + i, 0});
  shorter.write(state(), 1);
  const RunTables run = assemble();
  ASSERT_EQ(run.nics.nic.size(), 1U);
  EXPECT_EQ(column(run.counters.at(0), "tx_bytes").values, (Values{0, 1, 2, 3, 4}));
  EXPECT_THAT(test::findings(run, "node.observed-twice"), ElementsAre(HasSubstr("1 port or GPU")));
}

// Passes rows on to tables in memory, and remembers how many came at a time.
class StretchSink final : public EventSink {
 public:
  explicit StretchSink(RunTables* run) : memory_(run) {}
  Status append(const runfile::EventTables&) override { return {}; }
  Status append_encoded(const runfile::EncodedPart&) override { return {}; }
  Status append_instances(std::span<const std::uint64_t>) override { return {}; }
  Status append_transfers(std::span<const std::uint64_t>) override { return {}; }
  Status append_member_ends(std::span<const std::uint64_t>) override { return {}; }
  Status append_counters(const CounterTable& rows) override {
    n_rows.push_back(rows.time_ns.size());
    return memory_.append_counters(rows);
  }
  std::vector<std::size_t> n_rows;

 private:
  MemorySink memory_;
};

TEST_F(CounterTables, AreTheSameInStretchesOfAnyLength) {
  for (std::uint32_t node = 0; node < 2; ++node) {
    NodeSpool spool("n" + std::to_string(node));
    add_port(&spool, 0);
    add_port(&spool, 1, {.name = "rdmap0s7", .pci = "0000:00:07.0"});
    spool.port(2, {.name = "mlx5_0", .driver = "mlx5_core", .pci = "0000:81:00.0"});
    spool.stream(2, SampleSubject::kNic, 2, {{"port_xmit_data", SampleUnit::kBytes, SampleKind::kCounter, 64, 4}});
    for (std::uint64_t i = 1; i < 40; ++i) {
      const std::uint32_t flags = i == 7 ? runfile::kRowReset : 0;
      for (std::uint32_t nic = 0; nic < 2; ++nic) {
        if (i % (nic + 2) == 0) spool.row(nic, i * kSecond + nic, {1000 * node + 100 * nic + i, i}, flags);
      }
      spool.row(2, i * kSecond, {i}, flags);
    }
    spool.write(state());
  }
  const RunTables whole = assemble();
  const RunSources sources = open_sources(rundir::read_run_directory(folder_.path())->runs.at(0));
  const NodeSamples samples = survey_samples(sources);
  const auto most_rows = [&](std::size_t budget_bytes) {
    RunTables run;
    StretchSink sink(&run);
    const auto ports = fill_counter_tables(sources, samples, whole.attributes.epoch_unix_ns, budget_bytes, &sink, &run);
    EXPECT_TRUE(ports);
    EXPECT_EQ(run.counters.size(), whole.counters.size());
    for (std::size_t i = 0; i < run.counters.size(); ++i) {
      EXPECT_EQ(run.counters[i].time_ns, whole.counters[i].time_ns);
      EXPECT_EQ(run.counters[i].flags, whole.counters[i].flags);
      EXPECT_EQ(run.counters[i].offset, whole.counters[i].offset);
      for (std::size_t k = 0; k < run.counters[i].columns.size(); ++k) {
        EXPECT_EQ(run.counters[i].columns[k].name, whole.counters[i].columns[k].name);
        EXPECT_EQ(run.counters[i].columns[k].values, whole.counters[i].columns[k].values);
      }
    }
    EXPECT_EQ(ports->at(2).resets, 1U) << "of the third port";
    return *std::max_element(sink.n_rows.begin(), sink.n_rows.end());
  };
  EXPECT_EQ(most_rows(1 << 20), 78U) << "all rows of a driver";
  EXPECT_EQ(most_rows(1), 39U) << "one port at a time";
}

TEST_F(CounterTables, GiveANodeWithoutProcessesARow) {
  folder_.add_rank(test::Recording(0, 1), 0, 1, "n0");
  NodeSpool spool("n1");
  add_port(&spool, 0);
  spool.row(0, kSecond, {1, 2});
  spool.write(state());
  const RunTables run = assemble();
  ASSERT_EQ(run.nodes.node.size(), 2U);
  EXPECT_EQ(run.strings.text(run.nodes.host[1]), "n1");
  EXPECT_EQ(run.nodes.n_processes[1], 0U);
  EXPECT_EQ(run.nics.node[0], 1U);
  EXPECT_EQ(run.attributes.n_nodes, 2U);
}

TEST_F(CounterTables, JoinGpusOfProcessesAndNodesByUuid) {
  test::Recording process(0, 1);
  spool::GpuDeviceState device{};
  device.name = process.string("H200");
  for (std::uint8_t i = 0; i < 16; ++i) device.uuid[i] = i;
  process.state(spool::StateKind::kGpuDevice, device);
  folder_.add_rank(process, 0, 1, "n0");
  NodeSpool spool;
  spool.gpu(0, "GPU-ffffffff-0405-0607-0809-0a0b0c0d0e0f");
  spool.gpu(1, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", "NVIDIA H200", "0000:2b:00.0");
  for (const std::uint32_t gpu : {0U, 1U}) {
    spool.stream(gpu, SampleSubject::kGpu, gpu, {{"sm_clock", SampleUnit::kMegahertz, SampleKind::kGauge}});
    spool.row(gpu, kSecond, {1000 + gpu});
  }
  spool.write(state());
  const RunTables run = assemble();
  ASSERT_EQ(run.devices.device.size(), 2U);
  EXPECT_EQ(run.devices.process[0], 0U) << "what a process used comes first";
  EXPECT_EQ(run.devices.pci[0].view(), "0000:2b:00.0");
  EXPECT_EQ(run.devices.numa[0], 1);
  EXPECT_EQ(run.devices.power_limit_mw[0], 700'000U);
  EXPECT_EQ(run.devices.sm_clock_max_mhz[0], 1980U);
  EXPECT_EQ(run.devices.process[1], runfile::kNoIndex);
  EXPECT_EQ(run.devices.uuid[1].view(), "GPU-ffffffff-0405-0607-0809-0a0b0c0d0e0f");
  ASSERT_EQ(run.counters.size(), 1U);
  EXPECT_EQ(run.counters[0].subject, CounterSubject::kGpu);
  EXPECT_EQ(column(run.counters[0], "sm_clock").values, (Values{1001, 1000}));
}

TEST_F(CounterTables, SayWhatHappenedOnTheNode) {
  NodeSpool spool("n0", 0, true);
  add_port(&spool, 0);
  spool.row(0, kSecond, {5, 0});
  spool.row(0, 2 * kSecond, {1, 0}, spool::kSampleReset);
  spool.row(0, 3 * kSecond, {2, 0}, spool::kSampleSaturated);
  spool.event(0, spool::NicEvent::kAppeared);
  spool.event(0, spool::NicEvent::kVanished);
  spool.event(0, spool::NicEvent::kReturned);
  spool.event(0, spool::NicEvent::kColumnDropped, "rx_odd: Invalid argument");
  spool.event(0, spool::NicEvent::kLinkDown);
  spool.event(0, spool::NicEvent::kRenamed, "efa_0");
  spool.event(0, spool::NicEvent::kSourceChanged, "sysfs");
  spool.note(spool::NodeNote::kNoGpu, "no libnvidia-ml");
  spool.note(spool::NodeNote::kNicTrouble, "mlx5_0 hides its counters");
  spool.note(spool::NodeNote::kSlowReads, "10 Hz instead of 100");
  spool.note(spool::NodeNote::kNotSampled, "not asked for");
  spool.ticks(10, 4);
  spool.write(state());
  const RunTables run = assemble();
  EXPECT_THAT(test::codes(run),
              ElementsAre("gpu.not-watched", "nic.column-dropped", "nic.link-down", "nic.renamed", "nic.reset",
                          "nic.saturated", "nic.slow-reads", "nic.source-changed", "nic.trouble", "nic.vanished",
                          "node.missed-ticks", "node.not-sampled", "node.shared"));
  EXPECT_THAT(test::findings(run, "nic.vanished"), ElementsAre("node n0 lost rdmap0s6 port 1; it came back"));
  EXPECT_THAT(test::findings(run, "nic.column-dropped")[0], HasSubstr("rdmap0s6 port 1 that cannot be read: rx_odd"));
  EXPECT_THAT(test::findings(run, "node.missed-ticks")[0], HasSubstr("at 4 of 10 times"));
  EXPECT_THAT(test::findings(run, "nic.reset")[0], HasSubstr("went back 1 time"));
  EXPECT_THAT(test::findings(run, "gpu.not-watched")[0], HasSubstr("no libnvidia-ml"));
}

TEST_F(CounterTables, AnObserverThatWasKilledBeforeItsFirstReadingIsNoLoss) {
  NodeSpool spool;
  spool.without_anchors();
  spool.write(state(), 0, false);
  const RunTables run = assemble();
  EXPECT_FALSE(is_partial_);
  EXPECT_THAT(test::codes(run), ElementsAre("node.not-observed"));
  EXPECT_THAT(test::findings(run, "node.not-observed")[0],
              HasSubstr("node n0 was not observed: its observer was killed before its first reading"));
}

TEST_F(CounterTables, RowsWithoutAnyAnchorAreALoss) {
  NodeSpool spool;
  add_port(&spool, 0);
  spool.row(0, kSecond, {5, 0});
  spool.without_anchors();
  spool.write(state(), 0, false);
  const RunTables run = assemble();
  EXPECT_TRUE(is_partial_);
  EXPECT_THAT(test::codes(run), ElementsAre("node.killed", "node.no-clock"));
}

TEST_F(CounterTables, SayThatSamplesCannotBePlacedOrDecoded) {
  NodeSpool spool;
  add_port(&spool, 0);
  spool.anchor({kSecond, kSecond, -5, kSecond, 1});
  spool.row(0, kSecond, {5, 0});
  spool.write(state());
  NodeSpool damaged("n1");
  add_port(&damaged, 0);
  damaged.row(0, kSecond, {5, 0});
  damaged.end_block();
  const std::size_t at = damaged.bytes(false).size() - 1;
  damaged.row(0, 2 * kSecond, {6, 0});
  std::string bytes = damaged.bytes();
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  test::write_file(run_layout::node_spool_path(state(), "n1", "n1-boot", 0), bytes);
  test::write_file(run_layout::node_spool_path(state(), "n2", "n2-boot", 0), "not a spool at all");
  const RunTables run = assemble();
  EXPECT_TRUE(is_partial_);
  EXPECT_THAT(test::codes(run),
              testing::IsSupersetOf({"file.unreadable", "node.damaged", "node.lost-samples", "node.no-clock"}));
  EXPECT_TRUE(run.counters.empty());
  EXPECT_EQ(run.nics.nic.size(), 2U) << "what was registered is known";
}

TEST(LeaveOutOverlaps, KeepsPartsThatFollowEachOther) {
  SampledSubject subject{0, {{1, 0, 5, 200, 300}, {0, 0, 5, 100, 150}, {2, 0, 0, 0, 0}}, {}};
  leave_out_overlaps(&subject);
  ASSERT_EQ(subject.parts.size(), 3U);
  EXPECT_EQ(subject.parts[0].observer, 2U) << "never read, and kept for what it knows";
  EXPECT_EQ(subject.parts[1].observer, 0U);
  EXPECT_EQ(subject.parts[2].observer, 1U);
  EXPECT_EQ(subject.rows(), 10U);
  EXPECT_TRUE(subject.left_out.empty());
}

TEST(LeaveOutOverlaps, KeepsTheLongerOfTwo) {
  SampledSubject subject{0, {{0, 0, 5, 100, 150}, {1, 0, 9, 150, 900}}, {}};
  leave_out_overlaps(&subject);
  ASSERT_EQ(subject.parts.size(), 1U);
  EXPECT_EQ(subject.parts[0].observer, 1U);
  ASSERT_EQ(subject.left_out.size(), 1U);
  EXPECT_EQ(subject.left_out[0].observer, 0U);
}

}  // namespace
}  // namespace jaxprof::assembly
