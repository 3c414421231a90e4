#include "netsampler/nic/nic_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/nic/recorded_link.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace jaxprof::netsampler {
namespace {

using spool::NicEvent;
using spool::NicSource;
using spool::NodeNote;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NicSamplerTest : public testing::Test {
 protected:
  NicSampler& sampler() {
    if (!sampler_) {
      settings_.sysfs_root = tree_.root();
      auto link = std::make_unique<test::RecordedLink>(link_for_later_);
      link_ = link.get();
      sampler_ = std::make_unique<NicSampler>(settings_, std::move(link));
    }
    return *sampler_;
  }
  // The link of the sampler, or of the one to come.
  test::RecordedLink& link() { return link_ != nullptr ? *link_ : link_for_later_; }

  void add_efa(const std::string& name, const std::string& pci, std::uint64_t value = 0) {
    tree_.add_card(name, pci, "efa");
    link().device(name).ports = {
        {.number = 1, .counters = test::efa_counters(value), .netdev = "", .is_active = true, .error = 0}};
  }
  const Reading& read(std::size_t port = 0, bool fast_only = false) {
    sampler().read(port, fast_only, &reading_);
    return reading_;
  }
  static std::vector<NicEvent> events(const NicUpdate& update) {
    std::vector<NicEvent> all;
    for (const Change& change : update.changes) all.push_back(change.event);
    return all;
  }

  NicSettings settings_;
  test::SysfsTree tree_;

 private:
  test::RecordedLink link_for_later_;
  test::RecordedLink* link_ = nullptr;
  std::unique_ptr<NicSampler> sampler_;
  Reading reading_;
};

TEST_F(NicSamplerTest, FindsPortsAndReadsThem) {
  add_efa("rdmap0s6", "0000:00:06.0", 40);
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  const NicUpdate update = sampler().rescan();
  EXPECT_THAT(events(update), ElementsAre(NicEvent::kAppeared, NicEvent::kAppeared));
  EXPECT_THAT(update.notes, IsEmpty());
  ASSERT_EQ(sampler().ports().size(), 2U);
  const Port& port = sampler().ports()[0];
  EXPECT_TRUE(port.is_present);
  EXPECT_EQ(port.info.source, NicSource::kNetlink);
  EXPECT_EQ(port.info.period_ns, 100'000'000U);
  EXPECT_EQ(port.info.slow_period_ns, 1'000'000'000U);
  EXPECT_EQ(sampler().ports()[1].info.source, NicSource::kNetdev);
  const Reading& reading = read();
  EXPECT_TRUE(reading.is_ok);
  EXPECT_EQ(reading.flags, 0U);
  EXPECT_THAT(reading.values, testing::Each(40U));
  EXPECT_LE(reading.begin_ns, reading.end_ns);
  EXPECT_GT(reading.begin_ns, 0U);
}

TEST_F(NicSamplerTest, SaysNothingWhereNothingChanged) {
  add_efa("rdmap0s6", "0000:00:06.0");
  sampler().rescan();
  const NicUpdate update = sampler().rescan();
  EXPECT_THAT(update.changes, IsEmpty());
  EXPECT_THAT(update.notes, IsEmpty());
  EXPECT_FALSE(sampler().wants_rescan());
}

TEST_F(NicSamplerTest, ReadsFastColumnsAlone) {
  settings_.source = NicSource::kSysfs;
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_all("rdmap0s6", test::efa_counters(5));
  sampler().rescan();
  EXPECT_EQ(read(0, true).values.size(), 10U);
  EXPECT_EQ(read(0, false).values.size(), 22U);
}

TEST_F(NicSamplerTest, KeepsARenamedCard) {
  add_efa("efa_0", "0000:00:06.0", 1);
  sampler().rescan();
  read();
  tree_.rename_card("efa_0", "rdmap0s6");
  link().device("efa_0").name = "rdmap0s6";
  const NicUpdate update = sampler().rescan();
  EXPECT_THAT(events(update), ElementsAre(NicEvent::kRenamed));
  EXPECT_EQ(update.changes[0].text, "efa_0");
  EXPECT_EQ(sampler().ports().size(), 1U);
  EXPECT_EQ(sampler().ports()[0].info.name, "rdmap0s6");
  EXPECT_TRUE(read().is_ok);
  EXPECT_EQ(read().flags, 0U);
}

TEST_F(NicSamplerTest, SurvivesALossAndAReturn) {
  add_efa("rdmap0s6", "0000:00:06.0", 900);
  add_efa("rdmap0s7", "0000:00:07.0", 1);
  sampler().rescan();
  read(0);
  tree_.remove_card("rdmap0s6");
  std::erase_if(link().devices, [](const test::AnsweredDevice& one) { return one.name == "rdmap0s6"; });
  EXPECT_FALSE(read(0).is_ok);
  EXPECT_TRUE(sampler().wants_rescan());
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kVanished));
  EXPECT_FALSE(sampler().ports()[0].is_present);
  EXPECT_FALSE(sampler().wants_rescan());
  EXPECT_FALSE(read(0).is_ok);
  EXPECT_TRUE(read(1).is_ok) << "the other one goes on";

  add_efa("rdmap0s6", "0000:00:06.0", 3);
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kReturned));
  EXPECT_EQ(sampler().ports().size(), 2U);
  EXPECT_EQ(read(0).flags, spool::kSampleReturned | spool::kSampleReset);
  EXPECT_EQ(read(0).flags, 0U);
  EXPECT_EQ(sampler().ports()[0].column_set, 0U);
}

TEST_F(NicSamplerTest, SeesALossAndAReturnBetweenTwoRescans) {
  add_efa("rdmap0s6", "0000:00:06.0", 900);
  sampler().rescan();
  read();
  link().renumber("rdmap0s6");
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kVanished, NicEvent::kReturned));
  EXPECT_EQ(read().flags, spool::kSampleReturned);
}

TEST_F(NicSamplerTest, SeesThatFilesAreOthersUnderTheSameName) {
  settings_.source = NicSource::kSysfs;
  tree_.add_card("rxe0", "0000:00:06.0", "hns3");
  tree_.set("rxe0", "rx_pkt", 50);
  sampler().rescan();
  read();
  std::filesystem::rename(tree_.root() + "/class/infiniband/rxe0/ports/1", tree_.root() + "/old");
  tree_.add_port("rxe0", 1);
  tree_.set("rxe0", "rx_pkt", 2);
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kVanished, NicEvent::kReturned));
  EXPECT_THAT(read().values, ElementsAre(2));
}

TEST_F(NicSamplerTest, GivesAnotherColumnSetAnotherNumber) {
  add_efa("rdmap0s6", "0000:00:06.0", 900);
  sampler().rescan();
  read();
  link().device("rdmap0s6").ports[0].counters.emplace_back("rx_shiny", 1);
  EXPECT_FALSE(read().is_ok);
  EXPECT_TRUE(sampler().wants_rescan());
  sampler().rescan();
  EXPECT_EQ(sampler().ports()[0].column_set, 1U);
  EXPECT_EQ(sampler().ports()[0].columns.size(), 23U);
  EXPECT_TRUE(read().is_ok);
  EXPECT_EQ(read().flags, 0U);
}

TEST_F(NicSamplerTest, FollowsTheLink) {
  add_efa("rdmap0s6", "0000:00:06.0");
  sampler().rescan();
  tree_.write(test::SysfsTree::port("rdmap0s6") + "/state", "1: DOWN\n");
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kLinkDown));
  EXPECT_EQ(sampler().ports()[0].info.period_ns, 1'000'000'000U);
  tree_.write(test::SysfsTree::port("rdmap0s6") + "/state", "4: ACTIVE\n");
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kLinkUp));
  EXPECT_EQ(sampler().ports()[0].info.period_ns, 100'000'000U);
}

TEST_F(NicSamplerTest, FlagsWhatTheKernelKept) {
  settings_.source = NicSource::kSysfs;
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa");
  tree_.set_all("rdmap0s6", test::efa_counters(5));
  tree_.set("rdmap0s6", "lifespan", 10'000);  // no reading of this test is as late
  sampler().rescan();
  EXPECT_EQ(read().flags, 0U);
  EXPECT_EQ(read().flags, spool::kSampleStale);
  tree_.set("rdmap0s6", "tx_bytes", 6);
  EXPECT_EQ(read().flags, 0U);
}

TEST_F(NicSamplerTest, DropsAnOddCounterWithOneNote) {
  for (const char* name : {"mlx5_0", "mlx5_1"}) {
    tree_.add_card(name, std::string("0000:00:0") + name[5] + ".0", "mlx5_core");
    link().device(name).ports = {test::AnsweredPort{}};
    tree_.set_pma(name, "port_xmit_data", 1);
    tree_.set_pma(name, "VL15_dropped", "N/A (no PMA)\n");
  }
  const NicUpdate update = sampler().rescan();
  EXPECT_THAT(events(update), ElementsAre(NicEvent::kAppeared, NicEvent::kColumnDropped, NicEvent::kAppeared,
                                          NicEvent::kColumnDropped));
  EXPECT_EQ(update.changes[1].text, "VL15_dropped: no number in it");
  ASSERT_EQ(update.notes.size(), 1U);
  EXPECT_EQ(update.notes[0].note, NodeNote::kNicTrouble);
  EXPECT_EQ(update.notes[0].text, "mlx5_core: counter VL15_dropped is left out: no number in it");
}

TEST_F(NicSamplerTest, SaysInOneLineThatThereIsNothing) {
  link().error = EPROTONOSUPPORT;
  const NicUpdate update = sampler().rescan();
  EXPECT_THAT(update.changes, IsEmpty());
  EXPECT_THAT(update.notes, ElementsAre(NicNote{.note = NodeNote::kNoNic,
                                                .text = "no RDMA card found (RDMA netlink: Protocol not supported)"}));
  EXPECT_THAT(sampler().rescan().notes, IsEmpty());
}

TEST_F(NicSamplerTest, SaysThatThereAreInterfacesOnly) {
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  const NicUpdate update = sampler().rescan();
  ASSERT_EQ(update.notes.size(), 1U);
  EXPECT_EQ(update.notes[0].text, "no RDMA card found: network interfaces only");
}

TEST_F(NicSamplerTest, SaysOnceForAllCardsWhyTheyAreNotReadInABetterWay) {
  link().error = EPERM;
  for (const char* name : {"rdmap0s6", "rdmap0s7"}) {
    tree_.add_card(name, std::string("0000:00:0") + name[7] + ".0", "efa");
    tree_.set_all(name, test::efa_counters());
    tree_.set(name, "lifespan", 12);
  }
  const NicUpdate update = sampler().rescan();
  ASSERT_EQ(update.notes.size(), 1U);
  EXPECT_EQ(update.notes[0].text, "rdmap0s6, rdmap0s7: netlink: Operation not permitted");
  EXPECT_EQ(sampler().ports()[1].info.reason, "netlink: Operation not permitted");
}

TEST_F(NicSamplerTest, ListsInterfacesAloneIfThatIsWanted) {
  settings_.source = NicSource::kNetdev;
  add_efa("rdmap0s6", "0000:00:06.0");
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  const NicUpdate update = sampler().rescan();
  ASSERT_EQ(sampler().ports().size(), 1U);
  EXPECT_EQ(sampler().ports()[0].info.name, "eth0");
  EXPECT_THAT(update.notes, IsEmpty());
}

TEST_F(NicSamplerTest, GivesACardWithoutCountersAnotherChanceWhenItsLinkComesUp) {
  tree_.add_card("mlx5_0", "0000:00:06.0", "mlx5_core");
  tree_.write(test::SysfsTree::port("mlx5_0") + "/state", "1: DOWN\n");
  sampler().rescan();
  EXPECT_EQ(sampler().ports()[0].info.source, NicSource::kNone);
  EXPECT_EQ(sampler().ports()[0].info.period_ns, 0U);
  tree_.set_pma("mlx5_0", "port_xmit_data", 1);
  tree_.write(test::SysfsTree::port("mlx5_0") + "/state", "4: ACTIVE\n");
  EXPECT_THAT(events(sampler().rescan()), ElementsAre(NicEvent::kLinkUp, NicEvent::kSourceChanged));
  EXPECT_EQ(sampler().ports()[0].info.period_ns, 20'000'000U);
  EXPECT_EQ(read().flags, 0U);
}

TEST_F(NicSamplerTest, GoesOnWithoutAnErrorWhereNetlinkFailsForAWhile) {
  add_efa("rdmap0s6", "0000:00:06.0", 7);
  sampler().rescan();
  read();
  link().error = ENOBUFS;
  EXPECT_FALSE(read().is_ok);
  EXPECT_FALSE(sampler().wants_rescan());
  link().error = 0;
  EXPECT_TRUE(read().is_ok);
  EXPECT_EQ(read().flags, 0U);
}

TEST_F(NicSamplerTest, KeepsItsCardsWhereNetlinkDoesNotListThemThisTime) {
  link().device("hidden").ports = {
      {.number = 1, .counters = test::efa_counters(1), .netdev = "", .is_active = true, .error = 0}};
  add_efa("rdmap0s6", "0000:00:06.0", 7);
  sampler().rescan();
  link().error = ENOBUFS;
  EXPECT_THAT(sampler().rescan().changes, IsEmpty());
  link().error = 0;
  EXPECT_THAT(sampler().rescan().changes, IsEmpty());
  EXPECT_TRUE(read(0).is_ok);
  EXPECT_TRUE(read(1).is_ok);
}

}  // namespace
}  // namespace jaxprof::netsampler
