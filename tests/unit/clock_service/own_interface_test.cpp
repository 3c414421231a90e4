#include "netsampler/clock/own_interface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::netsampler {
namespace {

using testing::HasSubstr;

InterfaceAddress address(const std::string& interface, const std::string& literal, bool is_up = true) {
  return {interface, *parse_address(literal, 0), is_up, interface == "lo"};
}

InterfaceFacts node() {
  return {{address("lo", "127.0.0.1"), address("lo", "::1"), address("docker0", "172.17.0.1"),
           address("eth0", "fd00::1"), address("eth0", "10.0.0.1"), address("eth0", "10.0.0.2"),
           address("ib0", "fe80::9%7"), address("ib0", "10.1.0.1"), address("eth1", "10.2.0.1", false),
           address("v6only", "fe80::8%8"), address("v6only", "fd00::8")},
          "eth0",
          "",
          ""};
}

std::string chosen(const InterfaceFacts& facts) {
  const auto found = choose_interface(facts);
  return found ? found->name + " " + found->address.literal() : "none: " + found.error().message;
}

std::string remark(const InterfaceFacts& facts) {
  const auto found = choose_interface(facts);
  return found ? found->remark : "none";
}

TEST(ChooseInterface, IsThatOfTheDefaultRouteWithItsFirstV4Address) {
  EXPECT_EQ(chosen(node()), "eth0 10.0.0.1");
}

TEST(ChooseInterface, AGlobalV6AddressDoesWhereThereIsNoOther) {
  InterfaceFacts facts = node();
  facts.default_route = "v6only";
  EXPECT_EQ(chosen(facts), "v6only fd00::8");
}

TEST(ChooseInterface, NcclsInterfaceComesFirst) {
  InterfaceFacts facts = node();
  for (const char* name : {"ib0", "ib", "=ib0", "wlan,ib", "=wlan,ib0", "^docker,eth", "^=docker0,eth0"}) {
    facts.nccl = name;
    EXPECT_EQ(chosen(facts), "ib0 10.1.0.1") << name;
    EXPECT_EQ(remark(facts), "") << name;
  }
  for (const char* name : {"ib0,eth0", "^docker0", "^lo,docker", "", "^"}) {
    facts.nccl = name;
    EXPECT_EQ(chosen(facts), "eth0 10.0.0.1") << name;
    EXPECT_EQ(remark(facts), "") << name;
  }
}

TEST(ChooseInterface, OneOfNcclsThatIsNotThereIsTold) {
  InterfaceFacts facts = node();
  for (const char* name : {"=ib", "eth1", "wlan", "ib0:1", "wlan,=ib0", "lo", "=lo", "^d,e,i,l,v"}) {
    facts.nccl = name;
    EXPECT_EQ(chosen(facts), "eth0 10.0.0.1") << name;
    EXPECT_EQ(remark(facts),
              "NCCL_SOCKET_IFNAME=" + std::string(name) +
                  " names no interface with an address that others reach: the default route's eth0 is used");
  }
  facts.default_route = "";
  EXPECT_EQ(chosen(facts), "docker0 172.17.0.1");
  EXPECT_THAT(remark(facts), HasSubstr(": docker0 is used"));
}

TEST(ChooseInterface, AnAddressThatOthersReachMayLieOnLoopback) {
  InterfaceFacts facts = node();
  facts.addresses.push_back(address("lo", "10.9.0.1"));
  facts.nccl = "lo";
  EXPECT_EQ(chosen(facts), "lo 10.9.0.1");
  EXPECT_EQ(remark(facts), "");
}

TEST(ChooseInterface, OneThatIsWantedIsTakenOrNothing) {
  InterfaceFacts facts = node();
  facts.nccl = "ib0";
  facts.wanted = "lo";
  EXPECT_EQ(chosen(facts), "lo 127.0.0.1") << "tests of one machine";
  facts.wanted = "eth1";
  EXPECT_EQ(chosen(facts), "none: no interface eth1 is up and has an address");
}

TEST(ChooseInterface, WithoutADefaultRouteTheFirstThatIsNotLoopbackDoes) {
  InterfaceFacts facts = node();
  facts.default_route.clear();
  EXPECT_EQ(chosen(facts), "docker0 172.17.0.1");
  facts.default_route = "gone";
  EXPECT_EQ(chosen(facts), "docker0 172.17.0.1");
  facts.addresses.resize(2);
  EXPECT_THAT(chosen(facts), HasSubstr("no network interface but loopback"));
}

TEST(DefaultRoute, OfV4HasTheLowestMetric) {
  const char* head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
  EXPECT_EQ(default_route_v4(head), "");
  EXPECT_EQ(default_route_v4(std::string(head) + "eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"), "");
  EXPECT_EQ(default_route_v4(std::string(head) + "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                                                 "eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                                                 "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n"),
            "eth0");
  EXPECT_EQ(default_route_v4("x\n\n\t\t\t\neth0\t00000000\n"), "");
}

TEST(DefaultRoute, OfV6IsNotTheKernelsRejectingOne) {
  const std::string zero(32, '0');
  const std::string reject = zero + " 00 " + zero + " 00 " + zero + " ffffffff 00000001 00000000 00200200       lo\n";
  const std::string route =
      zero + " 00 " + zero + " 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n";
  EXPECT_EQ(default_route_v6(reject), "");
  EXPECT_EQ(default_route_v6(reject + route), "eth0");
}

TEST(FindOwnInterface, FindsLoopbackOnThisMachine) {
  const auto found = find_own_interface("lo");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->address.literal(), "127.0.0.1");
}

}  // namespace
}  // namespace jaxprof::netsampler
