#include "launcher/collect/node_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace jaxprof::launcher {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json empty_node() {
  return {{"nic", {{"ports", json::array()}, {"notes", json::array()}}},
          {"gpu", {{"boards", json::array()}, {"notes", json::array()}, {"hz", 2}}},
          {"clock",
           {{"interface", "eth0"},
            {"address", "10.0.0.1"},
            {"port", 40000},
            {"stamps", {"receive", "send"}},
            {"hears_itself", true},
            {"clocksource", "tsc"},
            {"is_wall_known", true},
            {"is_wall_synchronised", false},
            {"wall_bound_ns", 0},
            {"notes", json::array()},
            {"meeting", nullptr}}}};
}

constexpr const char* kClockRow =
    "ok    clock eth0 10.0.0.1: kernel stamps receive+send, clocksource tsc, wall clock unsynchronised\n";

json efa_port() {
  return {{"name", "rdmap0s6"}, {"port", 1},           {"driver", "efa"},   {"pci", "0000:00:06.0"},
          {"guid", "1"},        {"netdev", ""},        {"numa", 0},         {"source", "netlink"},
          {"reason", ""},       {"bits_per_s", 100e9}, {"is_active", true}, {"hz", 10},
          {"slow_hz", 1},       {"read_us", 300},      {"fast_columns", 1}, {"columns", {"tx_bytes", "rx_bytes"}}};
}

json board() {
  return {{"name", "H200"}, {"uuid", "GPU-a"},      {"pci", "0000:1b:00.0"}, {"driver", "580.65"},
          {"numa", -1},     {"is_instance", false}, {"is_lost", false},      {"columns", {"sm_clock", "power"}}};
}

TEST(ReportNode, TellsWhereAndHowOftenAPortIsRead) {
  json node = empty_node();
  node["nic"]["ports"].push_back(efa_port());
  const auto report = report_node(node.dump());
  ASSERT_TRUE(report);
  EXPECT_EQ(
      report->text,
      "ok    nic   rdmap0s6 port 1 (efa, 0000:00:06.0, NUMA node 0, 100 Gbit/s): 2 counters by netlink, 10 Hz, a read "
      "takes 300 us\n" +
          std::string(kClockRow));
  EXPECT_TRUE(report->is_fit);
}

TEST(ReportNode, APortThatIsThereAndCannotBeReadIsAFaultWithItsReason) {
  json node = empty_node();
  json port = efa_port();
  port["source"] = "none";
  port["hz"] = 0;
  port["is_active"] = false;
  port["reason"] = "hw_counters: permission denied";
  node["nic"]["ports"].push_back(port);
  const auto report = report_node(node.dump());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->text, HasSubstr("FAULT nic   rdmap0s6 port 1"));
  EXPECT_THAT(report->text, HasSubstr("link down): cannot be read; hw_counters: permission denied\n"));
  EXPECT_FALSE(report->is_fit);
}

TEST(ReportNode, WhatIsNotThereIsNoFault) {
  json node = empty_node();
  node["nic"]["notes"].push_back({{"kind", "no-nic"}, {"text", "no RDMA card"}});
  node["gpu"]["notes"].push_back({{"kind", "no-gpu"}, {"text", "no NVML"}});
  const auto report = report_node(node.dump());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text, std::string("none  nic   no RDMA card\nnone  gpu   no NVML\n") + kClockRow);
  EXPECT_TRUE(report->is_fit);
}

TEST(ReportNode, ABoardThatIsLostOrSilentIsAFault) {
  json node = empty_node();
  json lost = board();
  lost["is_lost"] = true;
  json silent = board();
  silent["columns"] = json::array();
  json instance = silent;
  instance["is_instance"] = true;
  node["gpu"]["boards"] = {board(), instance};
  EXPECT_TRUE(report_node(node.dump())->is_fit);
  EXPECT_THAT(report_node(node.dump())->text,
              HasSubstr("ok    gpu   H200 (0000:1b:00.0, GPU-a, driver 580.65): 2 values, 2 Hz\n"));
  for (const json& bad : {lost, silent}) {
    node["gpu"]["boards"] = {board(), bad};
    EXPECT_FALSE(report_node(node.dump())->is_fit);
    EXPECT_THAT(report_node(node.dump())->text, HasSubstr("FAULT gpu   H200"));
  }
}

TEST(ReportNode, AClockThatCannotBeComparedIsANoteWithItsReason) {
  json node = empty_node();
  json& clock = node["clock"];
  clock["port"] = 0;
  clock["stamps"] = json::array();
  clock["is_wall_synchronised"] = true;
  clock["wall_bound_ns"] = 1'234'567;
  clock["notes"].push_back({{"kind", "clock-trouble"}, {"text", "no network interface but loopback"}});
  const auto report = report_node(node.dump());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text,
            "note  clock other nodes' clocks cannot be asked; clocksource tsc, wall clock synchronised within 1.23 ms, "
            "says the kernel\nnote  clock no network interface but loopback\n");
  EXPECT_TRUE(report->is_fit);
}

TEST(ReportNode, ANodeThatDoesNotHearItselfIsNotSaidToHaveStamps) {
  json node = empty_node();
  node["clock"]["stamps"] = json::array();
  node["clock"]["hears_itself"] = false;
  const auto report = report_node(node.dump());
  ASSERT_TRUE(report);
  EXPECT_EQ(
      report->text,
      "note  clock eth0 10.0.0.1: clocksource tsc, wall clock unsynchronised; its own test packets do not come back: "
      "UDP is filtered on this node?\n");
  EXPECT_TRUE(report->is_fit);
}

TEST(ReportNode, AnInterfaceThatWasNotWishedForIsARemark) {
  json node = empty_node();
  node["clock"]["notes"].push_back({{"kind", "clock-trouble"}, {"text", "NCCL_SOCKET_IFNAME=eth9 names no interface"}});
  EXPECT_EQ(report_node(node.dump())->text,
            std::string(kClockRow) + "note  clock NCCL_SOCKET_IFNAME=eth9 names no interface\n");
}

json meeting_of(unsigned n_others, std::vector<json> nodes) {
  return {{"is_anothers", false}, {"n_others", n_others}, {"reason", ""}, {"nodes", std::move(nodes)}};
}

json met(const char* host, unsigned n_asked, unsigned n_answered, double round_trip_ns) {
  return {{"host", host},
          {"address", "10.0.0.2"},
          {"n_asked", n_asked},
          {"n_answered", n_answered},
          {"round_trip_ns", round_trip_ns}};
}

TEST(ReportNode, TellsWhichNodesAnsweredAtAMeeting) {
  json node = empty_node();
  node["clock"]["meeting"] = meeting_of(7, {met("n2", 96, 95, 61'500)});
  EXPECT_EQ(report_node(node.dump())->text,
            std::string(kClockRow) +
                "note  clock 7 other nodes came, of which 1 were asked\n"
                "ok    clock n2 (10.0.0.2): 95 of 96 questions answered, round trip 61.5 us at least\n");
  EXPECT_TRUE(report_node(node.dump())->is_fit);
  node["clock"]["meeting"]["nodes"].push_back(met("n3", 12, 0, -1));
  EXPECT_THAT(report_node(node.dump())->text, HasSubstr("FAULT clock n3 (10.0.0.2): 0 of 12 questions answered\n"));
  EXPECT_FALSE(report_node(node.dump())->is_fit);
}

TEST(ReportNode, AMeetingWithNobodyIsToldAndOneThatCannotBeIsAFault) {
  json node = empty_node();
  node["clock"]["meeting"] = meeting_of(0, {});
  EXPECT_THAT(report_node(node.dump())->text, HasSubstr("none  clock no other node came to the meeting\n"));
  EXPECT_TRUE(report_node(node.dump())->is_fit);
  node["clock"]["meeting"]["reason"] = "cannot make /x/clock";
  EXPECT_THAT(report_node(node.dump())->text,
              HasSubstr("FAULT clock no other node can be met: cannot make /x/clock\n"));
  EXPECT_FALSE(report_node(node.dump())->is_fit);
}

TEST(ReportNode, OfSeveralDoctorsOfANodeOneTellsWhoAnswers) {
  json node = empty_node();
  node["clock"]["meeting"] = meeting_of(0, {});
  node["clock"]["meeting"]["is_anothers"] = true;
  EXPECT_EQ(report_node(node.dump())->text,
            "note  clock another doctor of this node meets the other nodes, and tells of clocks\n");
  EXPECT_TRUE(report_node(node.dump())->is_fit);
}

TEST(ReportNode, AKernelWithoutStampsIsTold) {
  json node = empty_node();
  node["clock"]["stamps"] = json::array();
  node["clock"]["is_wall_known"] = false;
  EXPECT_EQ(report_node(node.dump())->text,
            "ok    clock eth0 10.0.0.1: no kernel stamps, clocksource tsc, wall clock unknown\n");
}

TEST(ReportNode, WhatIsNoReportIsToldAsThat) {
  for (const char* text : {"", "{}", "[]", "{\"nic\": 1}", "not JSON"}) {
    const auto report = report_node(text);
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, ErrorCode::kNodeNotReady);
  }
}

}  // namespace
}  // namespace jaxprof::launcher
