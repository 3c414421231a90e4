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

bool traced_wants(const std::vector<std::string>& words) {
  return wants_observer(options_of(words), true);
}
bool plain_wants(const std::vector<std::string>& words) {
  return wants_observer(options_of(words), false);
}

std::vector<std::string> command_of(const std::vector<std::string>& words) {
  Node node;
  node.host = "n1";
  node.boot_id = "0123-4567";
  LaunchPlan plan;
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
