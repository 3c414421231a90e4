#include "netsampler/node/probe_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/spool/clock_record.h"
#include "tests/unit/netsampler/scripted_node.h"

namespace jaxprof::netsampler {
namespace {

using nlohmann::json;

class ProbeReportTest : public testing::Test {
 protected:
  json report(NicSource* nics, GpuSource* gpus) {
    return json::parse(probe_report({nics, gpus, &clocks_}, "n1", 5 * kSecond, &clock_));
  }

  ScriptedClock clock_;
  ScriptedNics nics_{&clock_};
  ScriptedGpus gpus_;
  ClockFindings clocks_;
};

TEST_F(ProbeReportTest, TellsPortsWithSourceRateAndCostAndLeavesOutLostOnes) {
  nics_.add_port("rdmap0s6", 22, 6, 100 * kMillisecond);
  nics_.add_port("gone", 1, 1, kSecond);
  nics_.port(1)->is_present = false;
  nics_.read_ns = 300'001;
  const json nic = report(&nics_, nullptr)["nic"];
  ASSERT_EQ(nic["ports"].size(), 1U);
  const json& port = nic["ports"][0];
  EXPECT_EQ(port["name"], "rdmap0s6");
  EXPECT_EQ(port["source"], "netlink");
  EXPECT_EQ(port["hz"], 10);
  EXPECT_EQ(port["slow_hz"], 1);
  EXPECT_EQ(port["columns"].size(), 22U);
  EXPECT_EQ(port["fast_columns"], 6);
  EXPECT_EQ(port["read_us"], 301);
}

TEST_F(ProbeReportTest, TellsBoardsAndTheColumnsThatHaveValues) {
  gpus_.next.boards = {board(0, "GPU-a")};
  gpus_.next.rows = {gpu_row(0, 5, 700'000)};
  const json gpu = report(nullptr, &gpus_)["gpu"];
  ASSERT_EQ(gpu["boards"].size(), 1U);
  EXPECT_EQ(gpu["boards"][0]["uuid"], "GPU-a");
  EXPECT_EQ(gpu["boards"][0]["columns"].size(), 1U);
  EXPECT_TRUE(gpu["notes"].empty());
}

TEST_F(ProbeReportTest, ADriverThatDoesNotAnswerIsWaitedForOnlySoLong) {
  gpus_.next.boards = {board(0, "GPU-a")};
  const json gpu = report(nullptr, &gpus_)["gpu"];
  EXPECT_EQ(gpu["boards"].size(), 1U);
  EXPECT_EQ(gpu["notes"][0]["kind"], "gpu-trouble");
  EXPECT_GE(clock_.now_ns(), 105 * kSecond);
}

TEST_F(ProbeReportTest, AProbeThatHasEndedIsHeardAndNotWaitedFor) {
  gpus_.is_alive = false;
  gpus_.next.notes = {{spool::NodeNote::kNoGpu, "none found"}};
  const json gpu = report(nullptr, &gpus_)["gpu"];
  EXPECT_EQ(gpu["notes"][0]["text"], "none found");
  EXPECT_EQ(clock_.now_ns(), 100 * kSecond);
}

TEST_F(ProbeReportTest, TellsWhereTheClockCanBeAskedOrWhyNot) {
  clocks_.interface = "eth0";
  clocks_.address = "10.0.0.1";
  clocks_.port = 40000;
  clocks_.stamps = spool::kStampReceive | spool::kStampSend;
  clocks_.hears_itself = true;
  clocks_.clocksource = "tsc";
  clocks_.is_wall_known = clocks_.is_wall_synchronised = true;
  clocks_.wall_bound_ns = 250'000;
  json clock = report(nullptr, nullptr)["clock"];
  EXPECT_EQ(clock["address"], "10.0.0.1");
  EXPECT_EQ(clock["stamps"], (json{"receive", "send"}));
  EXPECT_EQ(clock["wall_bound_ns"], 250'000);
  EXPECT_TRUE(clock["notes"].empty());
  clocks_.hears_itself = false;
  clocks_.remark = "NCCL_SOCKET_IFNAME=eth9 names no interface";
  clock = report(nullptr, nullptr)["clock"];
  EXPECT_EQ(clock["stamps"], json::array()) << "stamps of packets that went nowhere";
  EXPECT_EQ(clock["hears_itself"], false);
  EXPECT_EQ(clock["notes"][0]["text"], clocks_.remark);
  clocks_ = {};
  clocks_.reason = "no network interface";
  clock = report(nullptr, nullptr)["clock"];
  EXPECT_EQ(clock["port"], 0);
  EXPECT_EQ(clock["notes"][0]["kind"], "clock-trouble");
  const json without = json::parse(probe_report({}, "n1", 0, &clock_));
  EXPECT_EQ(without["clock"]["notes"][0]["kind"], "not-sampled");
}

TEST_F(ProbeReportTest, TellsWhoAnsweredAtAMeeting) {
  EXPECT_TRUE(report(nullptr, nullptr)["clock"]["meeting"].is_null());
  ClockMeeting meeting{3, {{"n2", "10.0.0.2", 96, 95, 61'500}}, "", false};
  const json told = json::parse(probe_report({nullptr, nullptr, &clocks_, &meeting}, "n1", 0, &clock_));
  const json& met = told["clock"]["meeting"];
  EXPECT_EQ(met["n_others"], 3);
  EXPECT_EQ(met["is_anothers"], false);
  EXPECT_EQ(met["reason"], "");
  ASSERT_EQ(met["nodes"].size(), 1U);
  EXPECT_EQ(met["nodes"][0]["host"], "n2");
  EXPECT_EQ(met["nodes"][0]["n_answered"], 95);
  EXPECT_EQ(met["nodes"][0]["round_trip_ns"], 61'500);
}

TEST_F(ProbeReportTest, OfAnothersMeetingAndOfTheClockThatOneTells) {
  ClockMeeting meeting;
  meeting.is_anothers = true;
  const json told = json::parse(probe_report({nullptr, nullptr, nullptr, &meeting}, "n1", 0, &clock_))["clock"];
  EXPECT_EQ(told["meeting"]["is_anothers"], true);
  EXPECT_EQ(told["notes"], json::array());
}

TEST_F(ProbeReportTest, WhatIsNotThereHasItsReason) {
  nics_.next()->notes.push_back({spool::NodeNote::kNoNic, "no card \xff"});
  gpus_.reason = "no libnvidia-ml.so.1";
  const json all = report(&nics_, &gpus_);
  EXPECT_EQ(all["host"], "n1");
  EXPECT_EQ(all["nic"]["notes"][0]["kind"], "no-nic");
  EXPECT_EQ(all["gpu"]["notes"][0]["text"], "no libnvidia-ml.so.1");
  EXPECT_EQ(report(nullptr, nullptr)["nic"]["notes"][0]["kind"], "not-sampled");
}

}  // namespace
}  // namespace jaxprof::netsampler
