#include "netsampler/nic/port_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/spool/sample_codec.h"
#include "netsampler/nic/discovery.h"
#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/nic/recorded_link.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace jaxprof::netsampler {
namespace {

using spool::NicSource;
using testing::ElementsAre;
using testing::HasSubstr;

class PortReaderTest : public testing::Test {
 protected:
  // Of the first port.
  PortReader open(NicSource wanted = NicSource::kNone) {
    const Discovery found = discover_ports(tree_.root(), &link_, true, {});
    return open_port(found.ports.at(0), wanted, &link_, found.rdma_error);
  }
  void answer(const std::string& name, test::NicCounters counters, int error = 0) {
    link_.device(name).ports = {
        {.number = 1, .counters = std::move(counters), .netdev = "", .is_active = true, .error = error}};
  }
  static std::vector<std::string> names(const PortReader& reader) {
    std::vector<std::string> all;
    for (const Column& column : reader.columns) all.push_back(column.name);
    return all;
  }

  test::SysfsTree tree_;
  test::RecordedLink link_;
};

TEST_F(PortReaderTest, TakesNetlinkWhereItAnswers) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_all("rdmap0s6", test::efa_counters(1));
  answer("rdmap0s6", test::efa_counters(2));
  PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kNetlink);
  EXPECT_EQ(reader.reason, "");
  EXPECT_EQ(reader.lifespan_ns, 0U);
  EXPECT_EQ(reader.fast_count, 22U) << "all come with the first";
  std::vector<std::uint64_t> values(22);
  EXPECT_EQ(reader.read(values), ReadOutcome::kOk);
  EXPECT_THAT(values, testing::Each(2U));
}

TEST_F(PortReaderTest, TakesSysfsWhereNetlinkIsForbidden) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_all("rdmap0s6", test::efa_counters(1));
  tree_.set("rdmap0s6", "lifespan", 12);
  link_.error = EPERM;
  PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kSysfs);
  EXPECT_THAT(reader.reason, HasSubstr("Operation not permitted"));
  EXPECT_EQ(reader.lifespan_ns, 12'000'000U);
  EXPECT_EQ(reader.columns.size(), 22U);
  EXPECT_EQ(reader.fast_count, 10U) << "bytes and packets";
}

TEST_F(PortReaderTest, TakesSysfsWhereAllCountersAreTooManyForOneAnswer) {
  tree_.add_card("hfi1_0", "0000:00:06.0", "hfi1");
  tree_.set("hfi1_0", "SwLinkUp,32", 3);
  tree_.set("hfi1_0", "lifespan", 10);
  answer("hfi1_0", {{"SwLinkUp,32", 3}}, EMSGSIZE);
  const PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kSysfs);
  EXPECT_THAT(reader.reason, HasSubstr("do not fit"));
}

TEST_F(PortReaderTest, TakesWhatTheUserWants) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_all("rdmap0s6", test::efa_counters(1));
  answer("rdmap0s6", test::efa_counters(2));
  EXPECT_EQ(open(NicSource::kSysfs).source, NicSource::kSysfs);
  EXPECT_EQ(open(NicSource::kSysfs).reason, "");
  link_.error = EPERM;
  const PortReader reader = open(NicSource::kNetlink);
  EXPECT_EQ(reader.source, NicSource::kNone);
  EXPECT_THAT(reader.reason, HasSubstr("Operation not permitted"));
}

TEST_F(PortReaderTest, ReadsMlx5FromBothWithItsBytesFast) {
  tree_.add_card("mlx5_0", "0000:00:08.0", "mlx5_core");
  tree_.set_pma("mlx5_0", "port_xmit_data", 1000);
  tree_.set_pma("mlx5_0", "port_rcv_data", 2000);
  tree_.set_pma("mlx5_0", "symbol_error", 3);
  answer("mlx5_0", test::mlx5_counters(7));
  PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kNetlink);
  EXPECT_EQ(reader.reason, "");
  EXPECT_EQ(reader.fast_count, 2U);
  EXPECT_EQ(reader.columns.size(), 15U);
  EXPECT_EQ(reader.columns[0].name, "port_rcv_data");
  const std::size_t asked = link_.counter_questions;
  std::vector<std::uint64_t> fast(2), all(15);
  EXPECT_EQ(reader.read(fast), ReadOutcome::kOk);
  EXPECT_THAT(fast, ElementsAre(2000, 1000));
  EXPECT_EQ(link_.counter_questions, asked) << "the firmware is not asked for what is not wanted";
  EXPECT_EQ(reader.read(all), ReadOutcome::kOk);
  EXPECT_EQ(link_.counter_questions, asked + 1);
  EXPECT_EQ(all.back(), 3U);
}

TEST_F(PortReaderTest, SaysWhyMlx5HasNoBytesInAContainer) {
  tree_.add_card("mlx5_0", "0000:00:08.0", "mlx5_core");
  answer("mlx5_0", test::mlx5_counters(7));
  const PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kNetlink);
  EXPECT_THAT(reader.reason, HasSubstr("ports/1/counters"));
  EXPECT_EQ(reader.fast_count, 0U);
}

TEST_F(PortReaderTest, SaysWhyThereIsNothing) {
  tree_.add_card("mlx5_0", "0000:00:08.0", "mlx5_core");
  link_.error = EAFNOSUPPORT;
  const PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kNone);
  EXPECT_THAT(reader.reason, HasSubstr("Address family not supported"));
  EXPECT_THAT(reader.reason, HasSubstr("network namespace"));
  EXPECT_TRUE(reader.columns.empty());
}

TEST_F(PortReaderTest, MissesNothingWhereADriverHasNoHwCounters) {
  tree_.add_card("qib0", "0000:00:08.0", "ib_qib");
  tree_.set_pma("qib0", "port_xmit_data", 1);
  answer("qib0", {});
  PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kSysfs);
  EXPECT_EQ(reader.reason, "");
  link_.error = EPERM;
  EXPECT_THAT(open().reason, HasSubstr("Operation not permitted")) << "it may have some";
}

TEST_F(PortReaderTest, DropsOneOddCounterAndKeepsTheOthers) {
  tree_.add_card("mlx5_0", "0000:00:08.0", "mlx5_core");
  tree_.set_pma("mlx5_0", "VL15_dropped", "N/A (no PMA)\n");
  tree_.set_pma("mlx5_0", "port_xmit_data", 1);
  tree_.link(test::SysfsTree::port("mlx5_0") + "/counters/unreadable", "nowhere");
  const PortReader reader = open();
  EXPECT_THAT(names(reader), ElementsAre("port_xmit_data"));
  ASSERT_EQ(reader.dropped.size(), 2U);
  EXPECT_EQ(reader.dropped[0].name, "VL15_dropped");
  EXPECT_EQ(reader.dropped[0].why, "no number in it");
  EXPECT_EQ(reader.dropped[1].why, "No such file or directory");
}

TEST_F(PortReaderTest, AddsWhatIsCountedForTheWholeCard) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_of_device("rdmap0s6", "submitted_cmds", 5);
  tree_.set_of_device("rdmap0s6", "lifespan", 12);
  answer("rdmap0s6", test::efa_counters());
  const PortReader reader = open();
  EXPECT_EQ(reader.columns.size(), 23U);
  EXPECT_EQ(reader.columns.back().name, "submitted_cmds");
  EXPECT_FALSE(reader.columns.back().is_fast);
}

TEST_F(PortReaderTest, RecognizesADriverThatNobodyNames) {
  answer("rdmap0s6", test::efa_counters());
  const PortReader reader = open();
  EXPECT_EQ(reader.driver, "efa");
  EXPECT_THAT(reader.reason, HasSubstr("driver known by its counters"));
  EXPECT_EQ(reader.fast_count, 22U);
}

TEST_F(PortReaderTest, ReadsAnInterface) {
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  tree_.set_statistic("eth0", "tx_bytes", 77);
  PortReader reader = open();
  EXPECT_EQ(reader.source, NicSource::kNetdev);
  EXPECT_EQ(reader.reason, "");
  EXPECT_THAT(names(reader), ElementsAre("rx_bytes", "rx_packets", "tx_bytes", "tx_packets", "rx_dropped", "rx_errors",
                                         "tx_dropped", "tx_errors"));
  std::vector<std::uint64_t> fast(reader.fast_count);
  EXPECT_EQ(reader.read(fast), ReadOutcome::kOk);
  EXPECT_THAT(fast, ElementsAre(0, 0, 77, 0));
}

TEST_F(PortReaderTest, SeesThatTheCardIsGone) {
  answer("rdmap0s6", test::efa_counters());
  PortReader reader = open();
  link_.renumber("rdmap0s6");
  std::vector<std::uint64_t> values(reader.columns.size());
  EXPECT_EQ(reader.read(values), ReadOutcome::kLost);
}

TEST_F(PortReaderTest, SeesThatCountersWereAdded) {
  answer("mlx5_0", test::mlx5_counters());
  PortReader reader = open();
  test::NicCounters more = test::mlx5_counters();
  more.insert(more.begin() + 1, {"cc_rx_ce_pkts", 0});
  answer("mlx5_0", more);
  std::vector<std::uint64_t> values(reader.columns.size());
  EXPECT_EQ(reader.read(values), ReadOutcome::kChanged);
}

TEST_F(PortReaderTest, MissesValuesWhereNetlinkFailsForAWhile) {
  answer("rdmap0s6", test::efa_counters(4));
  PortReader reader = open();
  link_.error = ENOBUFS;
  std::vector<std::uint64_t> values(reader.columns.size());
  EXPECT_EQ(reader.read(values), ReadOutcome::kOk);
  EXPECT_THAT(values, testing::Each(spool::kMissingSample));
  link_.error = 0;
  EXPECT_EQ(reader.read(values), ReadOutcome::kOk);
  EXPECT_THAT(values, testing::Each(4U));
}

}  // namespace
}  // namespace jaxprof::netsampler
