#include "launcher/hydra_proxy.h"

#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

std::string command_line(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

// As MPICH 4.0 starts it.
TEST(MpiexecOfProxy, IsWhereTheProxyReports) {
  EXPECT_EQ(mpiexec_of_proxy(command_line({"/usr/bin/hydra_pmi_proxy", "--control-port", "n1:45911", "--rmk", "user",
                                           "--launcher", "slurm", "--demux", "poll", "--proxy-id", "0"})),
            "45911@n1");
  EXPECT_EQ(mpiexec_of_proxy(command_line({"hydra_pmi_proxy", "--control-port", "fe80::1:45911"})), "45911@fe80::1");
}

TEST(MpiexecOfProxy, IsNoneOfOtherPrograms) {
  EXPECT_EQ(mpiexec_of_proxy(""), "");
  EXPECT_EQ(mpiexec_of_proxy(command_line({"python", "--control-port", "n1:45911"})), "");
  EXPECT_EQ(mpiexec_of_proxy(command_line({"hydra_pmi_proxy", "--control-port"})), "");
  EXPECT_EQ(mpiexec_of_proxy(command_line({"hydra_pmi_proxy", "--control-port", "n1"})), "");
  EXPECT_EQ(mpiexec_of_proxy(command_line({"hydra_bstrap_proxy", "--upstream-host", "n1", "--upstream-port", "4"})),
            "");
}

TEST(FindMpiexec, FindsNoneAboveATest) {
  EXPECT_EQ(find_mpiexec(), "");
}

}  // namespace
}  // namespace jaxprof::launcher
