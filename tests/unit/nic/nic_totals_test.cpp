// Whole nodes of each kind of card, read over and over while their counters move: the differences of all rows must add
// up to what was counted, to the byte, through losses of values, wraps and resets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "agent/spool/sample_codec.h"
#include "netsampler/nic/counter_difference.h"
#include "netsampler/nic/nic_sampler.h"
#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/nic/recorded_link.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace jaxprof::netsampler {
namespace {

using spool::kMissingSample;
using spool::SampleKind;

// The rows of one column, and what follows from them.
class Column64 {
 public:
  void add(const Column& column, std::uint64_t value) {
    if (value == kMissingSample) return;
    if (last_ == kMissingSample) first_ = value;
    const auto grown = counter_difference(column, last_, value);
    if (grown) sum_ += *grown;
    last_ = value;
  }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t last_minus_first() const { return last_ - first_; }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t last_ = kMissingSample;
  std::uint64_t sum_ = 0;
};

class NicTotalsTest : public testing::Test {
 protected:
  NicSampler& start(NicSettings settings = {}) {
    settings.sysfs_root = tree_.root();
    auto link = std::make_unique<test::RecordedLink>();
    link->error = link_error_;
    link_ = link.get();
    sampler_ = std::make_unique<NicSampler>(settings, std::move(link));
    return *sampler_;
  }
  // One row of the port, fast or whole.
  std::uint32_t read(std::size_t port, bool fast_only) {
    sampler_->read(port, fast_only, &reading_);
    EXPECT_TRUE(reading_.is_ok);
    const Port& of = sampler_->ports()[port];
    for (std::size_t i = 0; i < reading_.values.size(); ++i) {
      totals_[of.columns[i].name].add(of.columns[i], reading_.values[i]);
    }
    return reading_.flags;
  }
  std::size_t column(std::size_t port, const std::string& name) const {
    const std::vector<Column>& columns = sampler_->ports()[port].columns;
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
    EXPECT_NE(found, columns.end()) << name;
    return static_cast<std::size_t>(found - columns.begin());
  }

  // Moves all hw_counters of `card` by random steps, reads rows of both kinds, and demands exact totals.
  void expect_exact_totals(const std::string& card, test::NicCounters counters) {
    std::mt19937_64 random(7);
    for (auto& [name, value] : counters) value = random() >> 20;
    const test::NicCounters first = counters;
    tree_.set_all(card, counters);
    start().rescan();
    for (int row = 0; row < 25; ++row) {
      read(0, row % 10 != 0 && sampler_->ports()[0].fast_count != 0);
      for (auto& [name, value] : counters) value += random() % 1'000'000;
      tree_.set_all(card, counters);
    }
    read(0, false);
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const Column& of = sampler_->ports()[0].columns[column(0, counters[i].first)];
      if (of.kind == SampleKind::kGauge) continue;
      const Column64& total = totals_[of.name];
      EXPECT_EQ(total.sum(), counters[i].second - first[i].second) << of.name;
      EXPECT_EQ(total.sum(), total.last_minus_first()) << of.name;
    }
  }

  test::SysfsTree tree_;
  int link_error_ = EPERM;
  test::RecordedLink* link_ = nullptr;
  std::unique_ptr<NicSampler> sampler_;
  std::map<std::string, Column64> totals_;
  Reading reading_;
};

TEST_F(NicTotalsTest, OfEfaAreExact) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  expect_exact_totals("rdmap0s6", test::efa_counters());
}

TEST_F(NicTotalsTest, OfMlx5AreExact) {
  tree_.add_card("mlx5_0", "0000:00:06.0", "mlx5_core");
  tree_.set_pma("mlx5_0", "port_xmit_data", 1);
  expect_exact_totals("mlx5_0", test::mlx5_counters());
}

TEST_F(NicTotalsTest, OfBnxtReAreExact) {
  tree_.add_card("bnxt_re0", "0000:00:06.0", "bnxt_en");
  expect_exact_totals("bnxt_re0", test::bnxt_counters());
}

TEST_F(NicTotalsTest, OfIrdmaAreExact) {
  tree_.add_card("irdma0", "0000:00:06.0", "ice");
  expect_exact_totals("irdma0", test::irdma_counters());
}

TEST_F(NicTotalsTest, OfHfi1AreExact) {
  tree_.add_card("hfi1_0", "0000:00:06.0", "hfi1");
  expect_exact_totals("hfi1_0", test::counters_at(0, {"RxPkt", "TxWords", "SwLinkUp,32", "DcRecvErr"}));
}

TEST_F(NicTotalsTest, OfRxeAreExact) {
  tree_.add_software_card("rxe0", "eth0");
  expect_exact_totals("rxe0", test::rxe_counters());
}

TEST_F(NicTotalsTest, CountPortDataInFourOctetWords) {
  tree_.add_card("mlx5_0", "0000:00:06.0", "mlx5_core");
  tree_.set_pma("mlx5_0", "port_xmit_data", 1'000);
  start().rescan();
  read(0, true);
  tree_.set_pma("mlx5_0", "port_xmit_data", 1'250);
  read(0, true);
  const Column& words = sampler_->ports()[0].columns[0];
  EXPECT_EQ(totals_["port_xmit_data"].sum() * words.scale, 1'000U);
  EXPECT_EQ(words.unit, spool::SampleUnit::kBytes);
}

TEST_F(NicTotalsTest, AreRightThroughAWrap) {
  tree_.add_card("mlx5_0", "0000:00:06.0", "mlx5_core");
  tree_.set("mlx5_0", "packet_seq_err", 0xffff'ff00);
  start().rescan();
  read(0, false);
  tree_.set("mlx5_0", "packet_seq_err", 0x10);
  EXPECT_EQ(read(0, false), spool::kSampleWrapped);
  EXPECT_EQ(totals_["packet_seq_err"].sum(), 0x110U);
}

TEST_F(NicTotalsTest, LeaveOutWhatAResetHides) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set("rdmap0s6", "tx_bytes", 100);
  start().rescan();
  read(0, false);
  tree_.set("rdmap0s6", "tx_bytes", 150);
  EXPECT_EQ(read(0, false), 0U);
  tree_.set("rdmap0s6", "tx_bytes", 7);
  EXPECT_EQ(read(0, false), spool::kSampleReset);
  tree_.set("rdmap0s6", "tx_bytes", 10);
  EXPECT_EQ(read(0, false), 0U);
  EXPECT_EQ(totals_["tx_bytes"].sum(), 53U);
}

TEST_F(NicTotalsTest, AreRightWhereAValueWasMissing) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_all("rdmap0s6", {{"tx_bytes", 100}, {"rx_bytes", 100}});
  start().rescan();
  read(0, false);
  tree_.set("rdmap0s6", "tx_bytes", "N/A\n");
  tree_.set("rdmap0s6", "rx_bytes", 130);
  EXPECT_EQ(read(0, false), 0U);
  EXPECT_EQ(reading_.values[column(0, "tx_bytes")], kMissingSample);
  tree_.set("rdmap0s6", "tx_bytes", 190);
  EXPECT_EQ(read(0, false), 0U);
  EXPECT_EQ(totals_["tx_bytes"].sum(), 90U);
  EXPECT_EQ(totals_["rx_bytes"].sum(), 30U);
}

TEST_F(NicTotalsTest, NeverMakeARateOfASaturatedCounter) {
  tree_.add_card("mlx4_0", "0000:00:06.0", "mlx4_core");
  tree_.set_pma("mlx4_0", "symbol_error", 65'000);
  start().rescan();
  read(0, false);
  for (int i = 0; i < 3; ++i) {
    tree_.set_pma("mlx4_0", "symbol_error", 65'535);
    EXPECT_EQ(read(0, false), spool::kSampleSaturated);
  }
  EXPECT_EQ(totals_["symbol_error"].sum(), 0U);
}

// Eight EFA cards and two controllers of another make, which answer to nothing but one counter.
TEST_F(NicTotalsTest, AreOfEveryCardOnAMixedNode) {
  for (int i = 0; i < 8; ++i) {
    const std::string name = "rdmap" + std::to_string(i) + "s0";
    tree_.add_card(name, "0000:1" + std::to_string(i) + ":00.0", "efa");
    tree_.set_all(name, test::efa_counters(static_cast<std::uint64_t>(i)));
  }
  for (const char* name : {"ibp0", "ibp1"}) {
    tree_.add_card(name, std::string("0000:2") + name[3] + ":00.0", "mlx5_core");
    tree_.set_pma(name, "port_xmit_data", "N/A (no PMA)\n");
    tree_.set_pma(name, "port_rcv_data", "");
    tree_.set_pma(name, "link_downed", 0);
  }
  start().rescan();
  ASSERT_EQ(sampler_->ports().size(), 10U);
  std::multimap<std::string, std::size_t> columns;
  for (const Port& port : sampler_->ports()) columns.emplace(port.info.driver, port.columns.size());
  EXPECT_EQ(columns.count("efa"), 8U);
  EXPECT_THAT(columns, testing::Contains(std::pair("mlx5_core", 1U)).Times(2));
  for (std::size_t i = 0; i < 10; ++i) {
    sampler_->read(i, false, &reading_);
    EXPECT_TRUE(reading_.is_ok) << sampler_->ports()[i].info.name;
  }
}

}  // namespace
}  // namespace jaxprof::netsampler
