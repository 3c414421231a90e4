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

TEST(FindForeignHooks, NamesCuptiAsNvtxsHandler) {
  const auto hooks = find_foreign_hooks({"NVTX_INJECTION64_PATH=/usr/local/cuda/lib64/libcupti.so"});
  ASSERT_EQ(hooks.size(), 1u);
  EXPECT_EQ(hooks[0].tool, "CUPTI itself, as some images have it");
}

TEST(FindForeignHooks, HooksThatAreNotNeededAreLeftAlone) {
  const std::vector<std::string> nsys = {"CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so"};
  Hooks hooks;
  hooks.has_cuda = false;
  EXPECT_THAT(find_foreign_hooks(nsys, hooks), IsEmpty());
  EXPECT_THAT(child_environment(nsys, "/a", "/s", hooks),
              ElementsAre(nsys[0], "NVTX_INJECTION64_PATH=/a", "NCCL_PROFILER_PLUGIN=/a", "JAXPROF_SESSION=/s"));
  EXPECT_THAT(child_environment({"CUDA_INJECTION64_PATH=/x/libjaxprof-agent.so", "Z=1"}, "/a", "/s", hooks),
              ElementsAre("Z=1", "NVTX_INJECTION64_PATH=/a", "NCCL_PROFILER_PLUGIN=/a", "JAXPROF_SESSION=/s"));
}

TEST(HooksOf, AreThoseThatRecordSomething) {
  const auto hooks = [](std::uint32_t trace, const char* range = "none", CuptiPolicy cupti = CuptiPolicy::kAuto) {
    Recording recording;
    recording.trace = trace;
    recording.cupti = cupti;
    EXPECT_EQ(parse_capture_range(range, &recording.window), nullptr);
    const Hooks needed = hooks_of(recording);
    return std::string(needed.has_cuda ? "cuda " : "") + (needed.has_nvtx ? "nvtx " : "") +
           (needed.has_nccl ? "nccl " : "");
  };
  EXPECT_EQ(hooks(kDefaultTrace), "cuda nvtx nccl ");
  EXPECT_EQ(hooks(kTraceCuda), "cuda ");
  EXPECT_EQ(hooks(kTraceNvtx), "nvtx ");
  EXPECT_EQ(hooks(kTraceNccl), "nvtx nccl ") << "NCCL tells message sizes by NVTX";
  EXPECT_EQ(hooks(kTraceNic | kTraceGpu), "");
  EXPECT_EQ(hooks(kTraceNvtx, "cudaProfilerApi"), "cuda nvtx ");
  EXPECT_EQ(hooks(kTraceCuda, "steps:1-2"), "cuda nvtx ");
  EXPECT_EQ(hooks(kTraceCuda, "nvtx:x"), "cuda nvtx ");
  EXPECT_EQ(hooks(kDefaultTrace, "none", CuptiPolicy::kOff), "nvtx nccl ");
}

TEST(FindProfilerAround, KnowsWhatNsysAndNcuLeave) {
  EXPECT_EQ(find_profiler_around({"A=1", "NSYS_NVTX_PROFILER_REGISTER_ONLY=0"}), "") << "a setting, not a session";
  EXPECT_EQ(find_profiler_around({"NSYS_PROFILING_SESSION_ID=7"}), "nsys (NSYS_PROFILING_SESSION_ID)");
  EXPECT_EQ(find_profiler_around({"NV_COMPUTE_PROFILER_PERFWORKS_DIR=/x"}), "ncu (NV_COMPUTE_PROFILER_PERFWORKS_DIR)");
}

TEST(EnvironmentDifference, ListsWhatIsNewAndWhatChanged) {
  EXPECT_THAT(environment_difference({"A=1", "B=2"}, {"A=1", "B=3", "C=4"}), ElementsAre("B: 2 -> 3", "+C=4"));
  EXPECT_THAT(environment_difference({"A=1", "B=2"}, {"A=1"}), ElementsAre("-B"));
}

}  // namespace
}  // namespace jaxprof::launcher
