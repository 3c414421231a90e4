#include "launcher/child_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ChildEnvironment, AddsFourVariablesAndTouchesNoOther) {
  const std::vector<std::string> before = {"PATH=/bin", "LD_PRELOAD=x.so", "SLURM_PROCID=3", "ODD", "=x"};
  EXPECT_THAT(
      child_environment(before, "/jp/libjaxprof-agent.so", "/tmp/s/session"),
      ElementsAre("PATH=/bin", "LD_PRELOAD=x.so", "SLURM_PROCID=3", "ODD", "=x",
                  "CUDA_INJECTION64_PATH=/jp/libjaxprof-agent.so", "NVTX_INJECTION64_PATH=/jp/libjaxprof-agent.so",
                  "NCCL_PROFILER_PLUGIN=/jp/libjaxprof-agent.so", "JAXPROF_SESSION=/tmp/s/session"));
}

TEST(ChildEnvironment, ReplacesInPlace) {
  EXPECT_THAT(child_environment({"NCCL_PROFILER_PLUGIN=old", "Z=1", "JAXPROF_SESSION=/old"}, "/a", "/s"),
              ElementsAre("NCCL_PROFILER_PLUGIN=/a", "Z=1", "JAXPROF_SESSION=/s", "CUDA_INJECTION64_PATH=/a",
                          "NVTX_INJECTION64_PATH=/a"));
}

TEST(FindForeignHooks, NamesVariableValueAndTool) {
  const std::pair<const char*, const char*> cases[] = {
      {"CUDA_INJECTION64_PATH=/opt/nvidia/nsight-systems/2025.1/libToolsInjection64.so", "nsys"},
      {"NVTX_INJECTION64_PATH=/opt/nsight-compute/x/libnvtx.so", "ncu"},
      {"CUDA_INJECTION64_PATH=/usr/lib/libcupti_trace_injection.so", "a CUPTI tool"},
      {"NCCL_PROFILER_PLUGIN=inspector", "NCCL inspector"},
      {"NCCL_PROFILER_PLUGIN=/usr/local/CoMMA/libnccl-profiler.so", "CoMMA"},
      {"NCCL_PROFILER_PLUGIN=none", "switched off by the user"},
      {"NCCL_PROFILER_PLUGIN=/x/mine.so", ""},
  };
  for (const auto& [entry, tool] : cases) {
    const auto hooks = find_foreign_hooks({"A=b", entry});
    ASSERT_EQ(hooks.size(), 1u) << entry;
    EXPECT_EQ(hooks[0].tool, tool) << entry;
    EXPECT_EQ(describe(hooks[0]), std::string(entry) + (*tool != '\0' ? " (" + std::string(tool) + ")" : ""));
  }
}

TEST(FindForeignHooks, EmptyValuesAndOurOwnAgentAreNotForeign) {
  EXPECT_THAT(find_foreign_hooks({"CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=/other/libjaxprof-agent.so",
                                  "NCCL_PROFILER_PLUGINS=/x.so"}),
              IsEmpty());
}

TEST(EnvironmentDifference, ListsWhatIsNewAndWhatChanged) {
  EXPECT_THAT(environment_difference({"A=1", "B=2"}, {"A=1", "B=3", "C=4"}), ElementsAre("B: 2 -> 3", "+C=4"));
}

}  // namespace
}  // namespace jaxprof::launcher
