// Answers computed by hand.
#include "merge/study/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"
#include "merge/study/node_summary.h"
#include "merge/study/traffic_words.h"
#include "tests/unit/study/sampled_run.h"

namespace jaxprof::study {
namespace {

using runfile::CounterKind;
using runfile::CounterUnit;
using runfile::RunTables;
using test::Counter;
using test::Port;
using test::sampled_run;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t kGb = 1'000'000'000;

Cell at(const Table& table, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row)[i];
  }
  ADD_FAILURE() << "no column " << name;
  return Missing{};
}
std::int64_t whole(const Table& table, std::size_t row, std::string_view name) {
  return std::get<std::int64_t>(at(table, row, name));
}
double real(const Table& table, std::size_t row, std::string_view name) {
  return std::get<double>(at(table, row, name));
}
bool is_missing(const Table& table, std::size_t row, std::string_view name) {
  return std::holds_alternative<Missing>(at(table, row, name));
}

Port efa(std::uint32_t node, const std::string& name, std::uint64_t sent_bytes) {
  return {node,  name,
          "efa", 100,
          false, {{"tx_bytes", CounterUnit::kBytes, {7, 7 + sent_bytes}}, {"rx_bytes", CounterUnit::kBytes, {0, 0}}}};
}

TEST(Network, ShowsTotalsRatesAndTheShareOfTheLine) {
  const Table table = network(sampled_run(1, {{0,
                                               "rdmap0s6",
                                               "efa",
                                               100,
                                               false,
                                               {{"tx_bytes", CounterUnit::kBytes, {5 * kGb, 7 * kGb, 17 * kGb}},
                                                {"rx_bytes", CounterUnit::kBytes, {0, kGb, kGb}},
                                                {"tx_pkts", CounterUnit::kPackets, {0, 10, 30}},
                                                {"send_bytes", CounterUnit::kBytes, {0, kGb, 2 * kGb}},
                                                {"rdma_write_bytes", CounterUnit::kBytes, {0, 0, 0}},
                                                {"rdma_write_recv_bytes", CounterUnit::kBytes, {0, 1, 3}}}}}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(at(table, 0, "node")), "n0");
  EXPECT_EQ(whole(table, 0, "out_bytes"), 12 * std::int64_t{kGb});
  EXPECT_EQ(whole(table, 0, "in_bytes"), std::int64_t{kGb});
  EXPECT_EQ(whole(table, 0, "out_packets"), 30);
  EXPECT_TRUE(is_missing(table, 0, "in_packets"));
  EXPECT_DOUBLE_EQ(real(table, 0, "out_mean_gb_per_s"), 6);
  EXPECT_DOUBLE_EQ(real(table, 0, "out_peak_gb_per_s"), 10);
  EXPECT_TRUE(is_missing(table, 0, "out_p99_gb_per_s")) << "two intervals have no 99th percentile";
  EXPECT_DOUBLE_EQ(real(table, 0, "in_peak_gb_per_s"), 1);
  EXPECT_DOUBLE_EQ(real(table, 0, "peak_share"), 0.8) << "10 GB/s of 12.5";
  EXPECT_EQ(whole(table, 0, "send_bytes"), 2 * std::int64_t{kGb});
  EXPECT_EQ(whole(table, 0, "write_bytes"), 0) << "a zero that was read";
  EXPECT_TRUE(is_missing(table, 0, "read_bytes")) << "the driver has no such counter";
  EXPECT_EQ(whole(table, 0, "write_taken_bytes"), 3);
  EXPECT_TRUE(is_missing(table, 0, "errors"));
  EXPECT_THAT(table.verdict, StartsWith("1 port on 1 node; out 11.2 GiB, in 954 MiB; busiest: rdmap0s6 on n0, 80.0 %"));
}

TEST(Network, HasAPercentileOfAHundredIntervals) {
  std::vector<std::uint64_t> sent = {0};
  for (std::uint64_t i = 1; i <= 100; ++i) sent.push_back(sent.back() + i * kGb);
  const Table table = network(sampled_run(1, {{0, "p", "efa", 100, false, {{"tx_bytes", CounterUnit::kBytes, sent}}}}));
  EXPECT_NEAR(real(table, 0, "out_p99_gb_per_s"), 99.01, 1e-9);
}

TEST(Network, ScalesWordsOf4Octets) {
  const Table table =
      network(sampled_run(1, {{0,
                               "mlx5_0",
                               "mlx5_core",
                               400,
                               false,
                               {{"port_xmit_data", CounterUnit::kBytes, {0, kGb}, CounterKind::kCounter, 64, 4}}}}));
  EXPECT_EQ(whole(table, 0, "out_bytes"), 4 * std::int64_t{kGb});
  EXPECT_DOUBLE_EQ(real(table, 0, "out_mean_gb_per_s"), 4);
}

TEST(Network, AddsUpWhatADriverCountsByFamily) {
  const Table table = network(sampled_run(
      1, {{0,
           "irdma0",
           "irdma",
           100,
           false,
           {{"ip4OutOctets", CounterUnit::kBytes, {0, 100}}, {"ip6OutOctets", CounterUnit::kBytes, {0, 20}}}}}));
  EXPECT_EQ(whole(table, 0, "out_bytes"), 120);
}

TEST(Network, ShowsPacketsWhereThereAreNoBytes) {
  const Table rxe =
      network(sampled_run(1, {{0, "rxe0", "rdma_rxe", 2.5, false, {{"sent_pkts", CounterUnit::kPackets, {0, 9}}}}}));
  EXPECT_EQ(whole(rxe, 0, "out_packets"), 9);
  EXPECT_TRUE(is_missing(rxe, 0, "out_bytes"));
  const auto shows = [](const Table& table, std::string_view name) {
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [name](const Column& column) { return column.name == name && !column.is_detail; });
  };
  EXPECT_TRUE(shows(rxe, "out_packets"));
  EXPECT_FALSE(shows(network(sampled_run(1, {efa(0, "p", 1)})), "out_packets"));
}

TEST(Network, FindsRdmaIdleWhileTheInterfacesAreBusy) {
  const Port busy{0, "eth0", "ena", 100, true, {{"tx_bytes", CounterUnit::kBytes, {0, 30 * kGb}}}};
  const Table table = network(sampled_run(2, {efa(0, "rdmap0s6", 1000), busy, efa(1, "rdmap0s6", 30 * kGb)}));
  EXPECT_THAT(table.verdict,
              StartsWith("RDMA idle on n0: its efa ports moved 1000 B while its network interfaces moved 27.9 GiB, as "
                         "when NCCL falls back to TCP; 3 ports on 2 nodes"));
  const Table alone = network(sampled_run(1, {efa(0, "rdmap0s6", 1000), busy}));
  EXPECT_THAT(alone.notes, Each(Not(HasSubstr("RDMA idle")))) << "one node has nothing to say over RDMA";
  const Table both = network(sampled_run(2, {efa(0, "rdmap0s6", 30 * kGb), busy}));
  EXPECT_THAT(both.notes, Each(Not(HasSubstr("RDMA idle"))));
}

TEST(Network, FindsAPortFarBelowItsSiblings) {
  const std::vector<Port> ports = {efa(0, "a", 10 * kGb), efa(0, "b", 4 * kGb), efa(0, "c", 11 * kGb),
                                   efa(1, "d", 1 * kGb)};
  const Table table = network(sampled_run(2, ports));
  EXPECT_THAT(table.notes, Contains("finding: b on n0 moved 3.73 GiB, the median of its 2 siblings 9.78 GiB"));
  EXPECT_THAT(table.notes, Each(Not(HasSubstr("d on n1")))) << "it has no siblings";
  const Table quiet = network(sampled_run(1, {efa(0, "a", 1000), efa(0, "b", 10), efa(0, "c", 1000)}));
  EXPECT_THAT(quiet.notes, Each(Not(HasSubstr("siblings"))));
}

TEST(Network, FindsWhatWasLostAndWhereMostOfIt) {
  Port good = efa(0, "a", kGb);
  good.counters.push_back({"retrans_pkts", CounterUnit::kPackets, {4, 4}, CounterKind::kCounter, 64, 1, true});
  Port bad = efa(0, "b", kGb);
  bad.counters.push_back({"retrans_pkts", CounterUnit::kPackets, {4, 24}, CounterKind::kCounter, 64, 1, true});
  bad.counters.push_back({"rx_drops", CounterUnit::kPackets, {0, 3}, CounterKind::kCounter, 64, 1, true});
  bad.counters.push_back({"retrans_bytes", CounterUnit::kBytes, {0, 9000}, CounterKind::kCounter, 64, 1, true});
  const Table table = network(sampled_run(1, {good, bad}));
  EXPECT_EQ(whole(table, 0, "retransmits"), 0) << "what it had before does not count";
  EXPECT_EQ(whole(table, 1, "retransmits"), 20);
  EXPECT_EQ(whole(table, 1, "errors"), 3) << "bytes are no number of errors";
  EXPECT_THAT(table.verdict,
              StartsWith("errors on 1 of 2 ports, most on b on n0: 3 (most of it rx_drops: 3) (and 1 more"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("retransmits on 1 of 2 ports, most on b on n0: 20")));
}

TEST(Network, DoesNotCallWhatAnInterfaceDropsAFinding) {
  Port eth{0, "eth0", "ena", 100, true, {{"rx_bytes", CounterUnit::kBytes, {0, 9}}}};
  eth.counters.push_back({"rx_dropped", CounterUnit::kPackets, {0, 7}, CounterKind::kCounter, 64, 1, true});
  const Table table = network(sampled_run(1, {eth}));
  EXPECT_EQ(whole(table, 0, "errors"), 7);
  EXPECT_THAT(table.notes, Each(Not(HasSubstr("finding"))));
}

TEST(Network, NeverMakesARateOfWhatIsAtItsEndOrWasReset) {
  Port port = efa(0, "a", kGb);
  port.counters[0].values = {100, 50};
  port.counters.push_back({"symbol_error", CounterUnit::kOne, {65'535, 65'535}, CounterKind::kSaturating, 16, 1, true});
  const Table table = network(sampled_run(1, {port}));
  EXPECT_EQ(whole(table, 0, "out_bytes"), 0);
  EXPECT_TRUE(is_missing(table, 0, "out_mean_gb_per_s"));
  EXPECT_EQ(whole(table, 0, "errors"), 0);
  EXPECT_THAT(table.notes, Contains("a on n0: at their end and not counted: symbol_error"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("counters went back 1 time;")));
}

TEST(Network, SaysWhyItIsEmpty) {
  RunTables run = sampled_run(1, {});
  EXPECT_THAT(network(run).empty_reason, HasSubstr("read no network port"));
  const std::size_t row = runfile::add_row(run.diagnostics);
  run.diagnostics.code[row] = run.strings.intern("nic.none");
  run.diagnostics.text[row] = run.strings.intern("node n0 (observer): no card");
  EXPECT_EQ(network(run).empty_reason, "node n0 (observer): no card");
  EXPECT_THAT(network(RunTables{}).empty_reason, StartsWith("no node was sampled"));
}

TEST(Network, TakesPortsOfUnknownNodes) {
  RunTables run = sampled_run(1, {efa(0, "a", kGb)});
  run.nics.node[0] = runfile::kNoIndex;
  EXPECT_EQ(std::get<std::string>(at(network(run), 0, "node")), "an unknown node");
}

TEST(TrafficWords, WantANameAndItsUnit) {
  runfile::CounterColumn column;
  column.name = "tx_bytes";
  column.unit = CounterUnit::kBytes;
  EXPECT_EQ(traffic_of(column), Traffic::kOutBytes);
  column.unit = CounterUnit::kPackets;
  EXPECT_EQ(traffic_of(column), Traffic::kOther);
  column.name = "local_link_integrity_errors";
  EXPECT_EQ(traffic_of(column), Traffic::kOther);
  column.is_error = true;
  EXPECT_EQ(traffic_of(column), Traffic::kErrors);
}

// ---- the summary's sections -----------------------------------------------------------------------------------------

// "value detail" of the row with that item; "" if there is none.
std::string item(const Table& table, const std::string& name) {
  for (const Row& row : table.rows) {
    if (std::get<std::string>(row[1]) != name) continue;
    const auto* detail = std::get_if<std::string>(&row[4]);
    std::string text;
    if (const auto* n = std::get_if<std::int64_t>(&row[2])) text = std::to_string(*n) + " ";
    if (const auto* n = std::get_if<double>(&row[2])) text = std::to_string(*n) + " ";
    return text + (detail == nullptr ? "" : *detail);
  }
  return {};
}

TEST(NodeSummary, CountsNodesPortsAndWhatTheObserversCost) {
  RunTables run = sampled_run(3, {efa(0, "a", 1), efa(1, "b", 1), {0, "eth0", "ena", 100, true, {}}});
  run.observers.node = {0, 1, 1};
  run.observers.ticks = {100, runfile::kNoRow, 50};
  run.observers.missed_ticks = {1, runfile::kNoRow, 2};
  run.observers.lateness_max_ns = {5000, -1, 7000};
  run.observers.cpu_ns = {100'000'000, -1, 100'000'000};
  run.observers.reading_ns = {0, -1, 50'000'000};
  Table table;
  Sections out{table};
  add_network(out, run);
  EXPECT_EQ(item(table, "nodes sampled"), "2 of 3");
  EXPECT_EQ(item(table, "ports"), "3 2 x efa (netlink), 1 x ena (netdev)");
  EXPECT_EQ(item(table, "missed ticks"), "3 of 150");
  EXPECT_EQ(item(table, "lateness, largest"), "7000 ");
  EXPECT_EQ(item(table, "processor time"), "200000000 1.00 % of a core") << "over the 20 s of those that told";
}

TEST(NodeSummary, SaysThatNoNodeWasSampled) {
  Table table;
  Sections out{table};
  add_network(out, RunTables{});
  add_gpu_clocks(out, RunTables{});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(item(table, "nodes sampled"), "0 no observer (jaxprof-netsampler) left a spool");
}

TEST(NodeSummary, TellsHeldBackClocksOfBusyGpus) {
  RunTables run = sampled_run(1, {});
  for (const char* uuid : {"GPU-0", "GPU-1"}) {
    const std::size_t row = runfile::add_row(run.devices);
    run.devices.node[row] = 0;
    run.devices.uuid[row] = uuid;
    run.devices.sm_clock_max_mhz[row] = 1980;
  }
  runfile::CounterTable gpu;
  gpu.subject = runfile::CounterSubject::kGpu;
  gpu.offset = {0, 2, 6};
  constexpr std::uint64_t kNo = runfile::kNoSample;
  gpu.columns = {
      {"clock_reasons", 1, CounterUnit::kBits, CounterKind::kGauge, 64, false, {0, 0, 1, 4, 0, kNo}},
      {"sm_clock", 1, CounterUnit::kMegahertz, CounterKind::kGauge, 64, false, {1980, 1900, 210, 1200, kNo, 3}}};
  run.counters.push_back(gpu);
  Table table;
  Sections out{table};
  add_gpu_clocks(out, run);
  EXPECT_EQ(item(table, "GPUs watched"), "2 ");
  EXPECT_EQ(item(table, "held back, largest share of busy readings"),
            "0.500000 GPU-1 on n0: by its power limit or temperature");
  EXPECT_EQ(item(table, "lowest SM clock of a busy GPU"), "1200 GPU-1 on n0, of at most 1980 MHz") << "not 210: idle";
}

}  // namespace
}  // namespace jaxprof::study
