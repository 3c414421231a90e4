#include "netsampler/nic/counter_table.h"

#include <gtest/gtest.h>

#include "netsampler/nic/counter_rows.h"
#include "tests/unit/nic/driver_counters.h"

namespace jaxprof::netsampler {
namespace {

using spool::SampleKind;
using spool::SampleUnit;

std::vector<std::string> names_of(const test::NicCounters& counters) {
  std::vector<std::string> names;
  for (const auto& [name, value] : counters) names.push_back(name);
  return names;
}

TEST(DescribeCounter, TakesEfaBytesAsBytes) {
  const Column column = describe_counter("efa", CounterPlace::kPortHw, "rdma_write_recv_bytes");
  EXPECT_EQ(column, (Column{.name = "rdma_write_recv_bytes",
                            .scale = 1,
                            .unit = SampleUnit::kBytes,
                            .kind = SampleKind::kCounter,
                            .bits = 64,
                            .is_error = false,
                            .is_fast = true}));
}

TEST(DescribeCounter, TakesPortDataAsFourOctetWords) {
  for (const char* name : {"port_xmit_data", "port_rcv_data"}) {
    const Column column = describe_counter("mlx5_core", CounterPlace::kPma, name);
    EXPECT_EQ(column.scale, 4U) << name;
    EXPECT_EQ(column.unit, SampleUnit::kBytes) << name;
    EXPECT_TRUE(column.is_fast) << name;
  }
}

TEST(DescribeCounter, KnowsWhatIsWideAndWhatWrapsOnMlx5) {
  EXPECT_EQ(describe_counter("mlx5_core", CounterPlace::kPortHw, "packet_seq_err").bits, 32);
  EXPECT_EQ(describe_counter("mlx5_core", CounterPlace::kPortHw, "req_transport_retries_exceeded").bits, 32);
  EXPECT_EQ(describe_counter("mlx5_core", CounterPlace::kPortHw, "np_cnp_sent").bits, 64);
}

TEST(DescribeCounter, KnowsWhatSaturates) {
  for (const auto& [name, bits] :
       {std::pair{"symbol_error", 16}, {"link_downed", 8}, {"local_link_integrity_errors", 4}}) {
    const Column column = describe_counter("mlx4_core", CounterPlace::kPma, name);
    EXPECT_EQ(column.kind, SampleKind::kSaturating) << name;
    EXPECT_EQ(column.bits, bits) << name;
    EXPECT_TRUE(column.is_error) << name;
    EXPECT_FALSE(column.is_fast) << name;
  }
}

TEST(DescribeCounter, KnowsGaugesAmongCounters) {
  EXPECT_EQ(describe_counter("bnxt_re", CounterPlace::kPortHw, "active_qps").kind, SampleKind::kGauge);
  EXPECT_EQ(describe_counter("bnxt_re", CounterPlace::kPortHw, "watermark_mrs").kind, SampleKind::kGauge);
  EXPECT_EQ(describe_counter("bnxt_re", CounterPlace::kPortHw, "tx_bytes").kind, SampleKind::kCounter);
}

// The same word on another card may be something else.
TEST(DescribeCounter, LeavesUnknownNamesRaw) {
  for (const Column& column : {describe_counter("efa", CounterPlace::kPortHw, "shiny_new_bytes"),
                               describe_counter("brand_new", CounterPlace::kPortHw, "tx_bytes"),
                               describe_counter("", CounterPlace::kPortHw, "rx_bytes")}) {
    EXPECT_EQ(column.unit, SampleUnit::kOne) << column.name;
    EXPECT_EQ(column.kind, SampleKind::kUnknown) << column.name;
    EXPECT_EQ(column.scale, 1U) << column.name;
    EXPECT_EQ(column.bits, 64) << column.name;
    EXPECT_FALSE(column.is_fast || column.is_error) << column.name;
  }
}

TEST(DescribeCounter, TakesTheWidthThatHfi1WritesBehindTheName) {
  EXPECT_EQ(describe_counter("hfi1", CounterPlace::kPortHw, "SwLinkUp,32").bits, 32);
  EXPECT_EQ(describe_counter("hfi1", CounterPlace::kPortHw, "RxPkt").bits, 64);
  EXPECT_EQ(describe_counter("efa", CounterPlace::kPortHw, "odd,32").bits, 64);
}

// Where a name would fit two patterns, the first row counts.
TEST(DescribeCounter, PrefersNamesToPatterns) {
  EXPECT_TRUE(describe_counter("hns", CounterPlace::kPortHw, "rx_cnp_pkt").is_error);
  EXPECT_FALSE(describe_counter("hns", CounterPlace::kPortHw, "rx_rc_pkt").is_error);
  EXPECT_TRUE(describe_counter("efa", CounterPlace::kDeviceHw, "reg_mr_err").is_error);
  EXPECT_FALSE(describe_counter("efa", CounterPlace::kDeviceHw, "submitted_cmds").is_error);
}

TEST(DescribeCounter, FindsEfasDeviceCountersInThePortsFolderOfOldDrivers) {
  EXPECT_TRUE(is_known_counter("efa", CounterPlace::kPortHw, "submitted_cmds"));
  EXPECT_FALSE(is_known_counter("efa", CounterPlace::kDeviceHw, "tx_bytes"));
}

TEST(CounterTable, HasNoRowThatCannotBe) {
  const auto check = [](std::span<const CounterRow> rows) {
    for (const CounterRow& row : rows) {
      EXPECT_FALSE(row.pattern.empty());
      EXPECT_TRUE(row.bits > 0 && row.bits <= 64 && row.scale > 0) << row.pattern;
      EXPECT_FALSE(row.is_fast && (row.is_error || row.kind != SampleKind::kCounter)) << row.pattern;
      EXPECT_TRUE(row.kind != SampleKind::kSaturating || row.bits < 64) << row.pattern;
      EXPECT_TRUE(row.scale == 1 || row.unit == SampleUnit::kBytes) << row.pattern;
    }
  };
  check(pma_rows());
  check(netdev_rows());
  for (const DriverRows& rows : driver_rows()) {
    check(rows.port);
    check(rows.device);
  }
}

TEST(RdmaDriver, IsNamedAsItsOwnersNameIt) {
  EXPECT_EQ(rdma_driver("bnxt_en"), "bnxt_re");
  EXPECT_EQ(rdma_driver("ice"), "irdma");
  EXPECT_EQ(rdma_driver("efa"), "efa");
  EXPECT_EQ(rdma_driver(""), "");
}

TEST(RecognizeDriver, GoesByTheNamesOfItsCounters) {
  EXPECT_EQ(recognize_driver(names_of(test::efa_counters())), "efa");
  EXPECT_EQ(recognize_driver(names_of(test::mlx5_counters())), "mlx5_core");
  EXPECT_EQ(recognize_driver(names_of(test::bnxt_counters())), "bnxt_re");
  EXPECT_EQ(recognize_driver(names_of(test::irdma_counters())), "irdma");
  EXPECT_EQ(recognize_driver(names_of(test::rxe_counters())), "rdma_rxe");
}

TEST(RecognizeDriver, SaysNothingWhereItMayBeAnother) {
  EXPECT_EQ(recognize_driver({}), "");
  const std::vector<std::string> few = {"rx_bytes", "tx_bytes", "rx_pkts"};
  EXPECT_EQ(recognize_driver(few), "");
  const std::vector<std::string> common = {"rx_bytes", "tx_bytes", "rx_pkts", "tx_pkts"};  // of efa and bnxt_re
  EXPECT_EQ(recognize_driver(common), "");
  const std::vector<std::string> strange = {"sent_pkts", "rcvd_pkts", "send_err", "rdma_sends", "a", "b", "c", "d"};
  EXPECT_EQ(recognize_driver(strange), "");
}

TEST(DefaultPeriod, IsWhatACardIsGoodFor) {
  EXPECT_EQ(default_period_ns("efa", CounterPlace::kPortHw), 100'000'000U);
  EXPECT_EQ(default_period_ns("mlx5_core", CounterPlace::kPortHw), 20'000'000U);
  EXPECT_EQ(default_period_ns("bnxt_re", CounterPlace::kPortHw), 1'000'000'000U);
  EXPECT_EQ(default_period_ns("mlx5_core", CounterPlace::kNetdev), 100'000'000U);
}

}  // namespace
}  // namespace jaxprof::netsampler
