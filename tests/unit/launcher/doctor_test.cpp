#include "launcher/collect/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "launcher/collect/node_report.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

using testing::HasSubstr;

class AskSampler : public testing::Test {
 protected:
  std::string script(const char* body) {
    const std::string path = folder_.file("sampler");
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0700);
    return path;
  }

  test::TempFolder folder_;
};

TEST_F(AskSampler, TheRealOneReportsThisNode) {
  const auto probe = ask_sampler(JAXPROF_NETSAMPLER, {}, 90);
  ASSERT_TRUE(probe) << probe.error().message;
  const auto report = report_node(*probe);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->text, HasSubstr(" nic  "));
  EXPECT_THAT(report->text, HasSubstr(" gpu  "));
}

TEST_F(AskSampler, ItIsAskedToProbeAndHeardToItsEnd) {
  EXPECT_EQ(*ask_sampler(script("echo \"$@\"; sleep 0.1; echo end"), {}, 60), "--probe\nend\n");
  const DoctorOptions with_clocks{false, "/shared/a b", "42000-42004"};
  EXPECT_EQ(*ask_sampler(script("echo \"$@\""), with_clocks, 60),
            "--probe --clock-meet=/shared/a b --clock-port=42000-42004\n");
}

TEST(ParseInvocation, ADoctorTakesThePortsThatAFirewallLetsPass) {
  const auto invocation = parse_invocation({"doctor", "--meet", "d", "--clock-port", "42000-42004"});
  ASSERT_TRUE(invocation) << invocation.error().message;
  EXPECT_EQ(invocation->command, Command::kDoctor);
  EXPECT_EQ(invocation->doctor.clock_ports, "42000-42004");
  const auto wrong = parse_invocation({"doctor", "--clock-port", "5-4"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kUsage);
  EXPECT_EQ(wrong.error().message, "--clock-port 5-4: not a range of ports such as 40000-40099");
}

TEST_F(AskSampler, WhateverIsWrongWithItIsNamed) {
  EXPECT_THAT(ask_sampler("/proc/none/sampler", {}, 60).error().message,
              HasSubstr("/proc/none/sampler cannot be executed"));
  EXPECT_THAT(ask_sampler(script("exit 5"), {}, 60).error().message, HasSubstr("ended with status 5"));
  EXPECT_THAT(ask_sampler(script("kill -9 $$"), {}, 60).error().message, HasSubstr("signal 9"));
  EXPECT_THAT(ask_sampler(script("exec sleep 1000"), {}, 1).error().message, HasSubstr("has not ended after 1 s"));
}

}  // namespace
}  // namespace jaxprof::launcher
