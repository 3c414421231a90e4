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
          {"gpu", {{"boards", json::array()}, {"notes", json::array()}, {"hz", 2}}}};
}

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
      "ok    nic  rdmap0s6 port 1 (efa, 0000:00:06.0, NUMA node 0, 100 Gbit/s): 2 counters by netlink, 10 Hz, a read "
      "takes 300 us\n");
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
  EXPECT_THAT(report->text, HasSubstr("FAULT nic  rdmap0s6 port 1"));
  EXPECT_THAT(report->text, HasSubstr("link down): cannot be read; hw_counters: permission denied\n"));
  EXPECT_FALSE(report->is_fit);
}

TEST(ReportNode, WhatIsNotThereIsNoFault) {
  json node = empty_node();
  node["nic"]["notes"].push_back({{"kind", "no-nic"}, {"text", "no RDMA card"}});
  node["gpu"]["notes"].push_back({{"kind", "no-gpu"}, {"text", "no NVML"}});
  const auto report = report_node(node.dump());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text, "none  nic  no RDMA card\nnone  gpu  no NVML\n");
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
              HasSubstr("ok    gpu  H200 (0000:1b:00.0, GPU-a, driver 580.65): 2 values, 2 Hz\n"));
  for (const json& bad : {lost, silent}) {
    node["gpu"]["boards"] = {board(), bad};
    EXPECT_FALSE(report_node(node.dump())->is_fit);
    EXPECT_THAT(report_node(node.dump())->text, HasSubstr("FAULT gpu  H200"));
  }
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
