#include "netsampler/nic/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/nic/recorded_link.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace jaxprof::netsampler {
namespace {

using testing::ElementsAre;

class DiscoveryTest : public testing::Test {
 protected:
  Discovery discover(const std::set<std::string>& kept = {}) {
    return discover_ports(tree_.root(), &link_, true, kept);
  }
  std::vector<std::string> names(const Discovery& found) {
    std::vector<std::string> all;
    for (const FoundPort& port : found.ports) all.push_back(port.info.name);
    return all;
  }

  test::SysfsTree tree_;
  test::RecordedLink link_;
};

TEST_F(DiscoveryTest, FindsNothingWhereThereIsNothing) {
  link_.error = EPROTONOSUPPORT;
  const Discovery found = discover();
  EXPECT_TRUE(found.ports.empty());
  EXPECT_EQ(found.rdma_error, EPROTONOSUPPORT);
}

TEST_F(DiscoveryTest, DescribesACard) {
  tree_.add_card("rdmap0s6", "0000:00:06.0", "efa", "0123:4567:89ab:cdef");
  link_.device("other");
  link_.device("rdmap0s6").ports = {test::AnsweredPort{}};
  const Discovery found = discover();
  ASSERT_EQ(found.ports.size(), 1U);
  const FoundPort& port = found.ports[0];
  EXPECT_EQ(port.info.name, "rdmap0s6");
  EXPECT_EQ(port.info.driver, "efa");
  EXPECT_EQ(port.info.pci, "0000:00:06.0");
  EXPECT_EQ(port.info.guid, "0123:4567:89ab:cdef");
  EXPECT_EQ(port.info.numa, 1);
  EXPECT_EQ(port.info.port, 1U);
  EXPECT_EQ(port.info.bits_per_s, 100'000'000'000U);
  EXPECT_TRUE(port.info.is_active);
  EXPECT_EQ(port.rdma_device, 1U);
  EXPECT_NE(port.inode, 0U);
}

TEST_F(DiscoveryTest, FindsEveryPortOfACard) {
  tree_.add_card("mlx4_0", "0000:00:06.0", "mlx4_core");
  tree_.add_port("mlx4_0", 2);
  const Discovery found = discover();
  ASSERT_EQ(found.ports.size(), 2U);
  EXPECT_EQ(found.ports[1].info.port, 2U);
  EXPECT_NE(found.ports[0].device_folder, "");
  EXPECT_EQ(found.ports[1].device_folder, "") << "what is of the card is read once";
}

TEST_F(DiscoveryTest, FindsTheInterfaceOfAPort) {
  tree_.add_card("bnxt_re0", "0000:00:07.0", "bnxt_en");
  tree_.add_interface("eth7", "0000:00:07.0", "bnxt_en");
  tree_.add_card("mlx5_0", "0000:00:08.0", "mlx5_core");
  tree_.write(test::SysfsTree::port("mlx5_0") + "/gid_attrs/ndevs/0", "eth8\n");
  tree_.add_software_card("rxe0", "eth9");
  const Discovery found = discover();
  ASSERT_THAT(names(found), ElementsAre("bnxt_re0", "mlx5_0", "rxe0", "eth7"));
  EXPECT_EQ(found.ports[0].info.netdev, "eth7");
  EXPECT_EQ(found.ports[0].info.driver, "bnxt_re");
  EXPECT_EQ(found.ports[1].info.netdev, "eth8");
  EXPECT_EQ(found.ports[2].info.netdev, "eth9");
  EXPECT_EQ(found.ports[2].info.driver, "rdma_rxe");
  EXPECT_EQ(found.ports[2].info.pci, "");
}

TEST_F(DiscoveryTest, FindsByNetlinkWhatSysfsHides) {
  test::AnsweredDevice& device = link_.device("rdmap0s6");
  device.guid = 0x42;
  device.ports = {{.number = 1, .counters = test::efa_counters(), .netdev = "", .is_active = true, .error = 0}};
  const Discovery found = discover();
  ASSERT_EQ(found.ports.size(), 1U);
  EXPECT_EQ(found.ports[0].info.name, "rdmap0s6");
  EXPECT_EQ(found.ports[0].info.guid, "0000:0000:0000:0042");
  EXPECT_EQ(found.ports[0].folder, "");
  EXPECT_TRUE(found.ports[0].info.is_active);
}

// A container with /sys/class, whose links lead to /sys/devices, which it does not have.
TEST_F(DiscoveryTest, SaysWhichCardsHaveNoFolder) {
  tree_.link("class/infiniband/mlx5_0", "devices/gone/mlx5_0");
  const Discovery found = discover();
  EXPECT_TRUE(found.ports.empty());
  EXPECT_THAT(found.without_folder, ElementsAre("mlx5_0"));
}

TEST_F(DiscoveryTest, TakesInterfacesOfCardsOnly) {
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  tree_.add_interface("veth1");
  tree_.add_interface("docker0");
  const Discovery found = discover();
  ASSERT_THAT(names(found), ElementsAre("eth0"));
  EXPECT_EQ(found.ports[0].info.driver, "ena");
  EXPECT_EQ(found.ports[0].info.pci, "0000:00:05.0");
  EXPECT_EQ(found.ports[0].info.guid, "02:00:00:00:00:01");
  EXPECT_EQ(found.ports[0].info.bits_per_s, 25'000'000'000U);
  EXPECT_EQ(found.ports[0].info.port, 0U);
}

TEST_F(DiscoveryTest, TakesWhatThereIsInAContainersNetwork) {
  tree_.add_interface("eth0");
  tree_.add_interface("lo");
  tree_.write("class/net/lo/type", "772\n");
  EXPECT_THAT(names(discover()), ElementsAre("eth0"));
}

TEST_F(DiscoveryTest, TakesTheInterfaceUnderASoftwareCard) {
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  tree_.add_interface("dummy0");
  tree_.add_software_card("rxe0", "dummy0");
  EXPECT_THAT(names(discover()), ElementsAre("rxe0", "dummy0", "eth0"));
}

TEST_F(DiscoveryTest, KeepsAnInterfaceThatWentDown) {
  tree_.add_interface("eth0", "0000:00:05.0", "ena");
  tree_.write("class/net/eth0/operstate", "down\n");
  EXPECT_TRUE(discover().ports.empty());
  const Discovery found = discover({"eth0"});
  ASSERT_THAT(names(found), ElementsAre("eth0"));
  EXPECT_FALSE(found.ports[0].info.is_active);
}

}  // namespace
}  // namespace jaxprof::netsampler
