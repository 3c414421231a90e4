#include "launcher/observer_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

Options options_of(std::vector<std::string> words) {
  words.push_back("true");
  const auto options = parse_options(words, nullptr);
  EXPECT_TRUE(options) << options.error().message;
  return *options;
}

LaunchPlan plan_of(bool is_single_node) {
  LaunchPlan plan;
  plan.is_single_node = is_single_node;
  return plan;
}

bool traced_wants(const std::vector<std::string>& words, bool is_single_node = true) {
  return wants_observer(options_of(words), plan_of(is_single_node), true);
}
bool plain_wants(const std::vector<std::string>& words) {
  return wants_observer(options_of(words), plan_of(false), false);
}

std::vector<std::string> command_of(const std::vector<std::string>& words, bool is_single_node = false) {
  Node node;
  node.host = "n1";
  node.boot_id = "0123-4567";
  LaunchPlan plan = plan_of(is_single_node);
  plan.state_directory = "/shared/prof/.run-7.0.0";
  std::string("7.0.0").copy(plan.run.run_id, sizeof plan.run.run_id - 1);
  std::string("7").copy(plan.run.job_id, sizeof plan.run.job_id - 1);
  return observer_command("/opt/bin/jaxprof-netsampler", options_of(words), node, plan, "/tmp/jaxprof.0.7.0.0.node");
}

TEST(ObserverPlan, TracedTasksWantOneForPortsOrGpus) {
  EXPECT_TRUE(traced_wants({}));
  EXPECT_TRUE(traced_wants({"--nic-nodes", "none"})) << "GPUs are read all the same";
  EXPECT_TRUE(traced_wants({"-t", "nic"}));
  EXPECT_TRUE(traced_wants({"-t", "nccl,gpu"}));
  EXPECT_FALSE(traced_wants({"-t", "nic", "--nic-nodes", "none"}));
  EXPECT_FALSE(traced_wants({"-t", "cuda,nvtx,nccl"}));
}

TEST(ObserverPlan, TracedTasksWantOneForClocksWhereThereMayBeOtherNodes) {
  const std::vector<std::string> words = {"-t", "cuda,nvtx,nccl"};
  EXPECT_TRUE(traced_wants(words, false));
  EXPECT_FALSE(traced_wants(words, true));
  EXPECT_FALSE(traced_wants({"-t", "cuda,nvtx,nccl", "--clock", "off"}, false));
  EXPECT_FALSE(traced_wants({"-t", "none"}, false)) << "there is nothing to align";
}

TEST(ObserverPlan, TellsWhatBecomesOfClocks) {
  EXPECT_EQ(clock_words(options_of({}), plan_of(false)), "compared with other nodes', any UDP port");
  EXPECT_EQ(clock_words(options_of({"--clock-port", "40000-40099"}), plan_of(false)),
            "compared with other nodes', UDP ports 40000-40099");
  EXPECT_EQ(clock_words(options_of({}), plan_of(true)), "of one node");
  EXPECT_EQ(clock_words(options_of({"-t", "none"}), plan_of(false)), "not compared: nothing is recorded");
  EXPECT_THAT(clock_words(options_of({"--clock", "off"}), plan_of(false)), testing::HasSubstr("--clock off"));
}

TEST(ObserverPlan, TellsWhatARunIsWithoutIfItHasNone) {
  EXPECT_EQ(words_without_observer(options_of({}), plan_of(true)), "network ports and GPUs are not recorded");
  EXPECT_EQ(words_without_observer(options_of({}), plan_of(false)),
            "network ports and GPUs are not recorded, nodes' clocks not compared");
  EXPECT_EQ(words_without_observer(options_of({"-t", "nvtx"}), plan_of(false)), "nodes' clocks are not compared");
}

TEST(ObserverPlan, OthersWantOneOnlyForThePortsOfAllNodes) {
  EXPECT_FALSE(plain_wants({}));
  EXPECT_FALSE(plain_wants({"--nic-nodes", "none"}));
  EXPECT_TRUE(plain_wants({"--nic-nodes", "all"}));
  EXPECT_FALSE(plain_wants({"--nic-nodes", "all", "-t", "gpu,nccl"}));
}

TEST(ObserverPlan, WhatNobodyWantsIsNotOnRecord) {
  EXPECT_EQ(recorded_kinds(options_of({})), kDefaultTrace);
  EXPECT_EQ(recorded_kinds(options_of({"--nic-nodes", "none"})), kDefaultTrace & ~kTraceNic);
  EXPECT_EQ(recorded_kinds(options_of({"-t", "nccl,nic", "--nic-nodes", "none"})), kTraceNccl);
}

TEST(ObserverPlan, TheCommandNamesTheRunAndTheNode) {
  EXPECT_THAT(command_of({}), ElementsAre("/opt/bin/jaxprof-netsampler", "--run-state=/shared/prof/.run-7.0.0",
                                          "--node-folder=/tmp/jaxprof.0.7.0.0.node", "--run=7.0.0", "--job=7",
                                          "--host=n1", "--boot-id=0123-4567"));
}

TEST(ObserverPlan, PartsThatAreNotAskedForAreLeftOut) {
  EXPECT_THAT(command_of({"--nic-nodes=none", "--nic-hz=5"}), Contains("--no-nic"));
  EXPECT_THAT(command_of({"--nic-nodes=none", "--nic-hz=5"}), Not(Contains("--nic-hz=5")));
  EXPECT_THAT(command_of({"-t", "nic"}), Contains("--no-gpu"));
  EXPECT_THAT(command_of({"--nic-hz", "100", "--nic-source", "netdev"}),
              IsSupersetOf({"--nic-hz=100", "--nic-source=netdev"}));
  EXPECT_THAT(command_of({"--clock", "off", "--clock-port", "7"}), Contains("--clock=off"));
  EXPECT_THAT(command_of({"--clock", "off", "--clock-port", "7"}), Not(Contains("--clock-port=7")));
  EXPECT_THAT(command_of({"--clock-port", "40000-40099"}), Contains("--clock-port=40000-40099"));
}

TEST(ObserverPlan, ANodeWithoutOthersOpensNoPorts) {
  EXPECT_THAT(command_of({"--clock-port", "40000-40099"}, true), Contains("--clock=off"));
  EXPECT_THAT(command_of({"--clock-port", "40000-40099"}, true), Not(Contains("--clock-port=40000-40099")));
  EXPECT_THAT(command_of({}, false), Not(Contains("--clock=off")));
}

TEST(ObserverPlan, PathsHoldInAnotherFolder) {
  Options options = options_of({});
  LaunchPlan plan;
  plan.state_directory = "prof/.run-7.0.0";
  const auto command = observer_command("/s", options, Node{}, plan, "/tmp/f");
  EXPECT_THAT(command, Contains(testing::MatchesRegex("--run-state=/.*/prof/.run-7.0.0")));
}

TEST(ObserverPlan, WhatLoadsLibrariesStaysBehind) {
  EXPECT_THAT(observer_environment({"A=1", "LD_PRELOAD=x.so", "LD_LIBRARY_PATH=/lib", "LD_AUDIT=y.so"}),
              ElementsAre("A=1", "LD_LIBRARY_PATH=/lib"));
}

}  // namespace
}  // namespace jaxprof::launcher
