#include "merge/clock/causality_audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

AuditMember member(std::uint32_t node, std::int64_t start_ns, std::int64_t end_ns, double error_ns = 0,
                   bool is_root = false) {
  return {.node = node, .start_ns = start_ns, .end_ns = end_ns, .clock_error_ns = error_ns, .is_root = is_root};
}

TEST(CausalityAudit, FindsNothingWhereEveryoneEndsAfterTheLastStart) {
  CausalityAudit audit;
  audit.check(std::vector{member(0, 0, 100), member(1, 90, 95), member(2, 50, 91)}, Dependence::kAll);
  EXPECT_EQ(audit.instances(), 1U);
  EXPECT_EQ(audit.violations(), 0U);
  EXPECT_EQ(audit.worst().by_ns, 0);
}

TEST(CausalityAudit, CountsEveryEndBeforeTheLastStartAndNamesTheWorst) {
  CausalityAudit audit;
  audit.check(std::vector{member(0, 0, 40), member(1, 90, 120), member(2, 50, 80)}, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 2U);
  EXPECT_DOUBLE_EQ(audit.worst().by_ns, 50);
  EXPECT_EQ(audit.worst().early_node, 0U);
  EXPECT_EQ(audit.worst().late_node, 1U);
}

TEST(CausalityAudit, WhatTheErrorsAllowIsNoViolation) {
  CausalityAudit audit;
  audit.check(std::vector{member(0, 0, 40, 20), member(1, 90, 120, 30)}, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 0U);
  audit.check(std::vector{member(0, 0, 40, 20), member(1, 90, 120, 29)}, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 1U);
  EXPECT_DOUBLE_EQ(audit.worst().by_ns, 1);
  std::vector with_gpu = {member(0, 0, 40, 20), member(1, 90, 120, 20)};
  with_gpu[0].gpu_error_ns = 10;
  audit.check(with_gpu, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 1U);
}

TEST(CausalityAudit, ALaterStartThatIsLessCertainProvesLess) {
  CausalityAudit audit;
  // The second starts last, but with an error of 100 it proves nothing; the third does.
  audit.check(std::vector{member(0, 0, 40), member(1, 90, 120, 100), member(2, 60, 120)}, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 1U);
  EXPECT_EQ(audit.worst().late_node, 2U);
}

TEST(CausalityAudit, MembersOfOneNodeShareAClock) {
  CausalityAudit audit;
  audit.check(std::vector{member(3, 0, 40), member(3, 90, 120)}, Dependence::kAll);
  EXPECT_EQ(audit.instances(), 0U);
  // The first is compared with the last start elsewhere, which is not the last of all.
  audit.check(std::vector{member(3, 0, 40), member(3, 90, 120), member(4, 45, 120)}, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 1U);
  EXPECT_DOUBLE_EQ(audit.worst().by_ns, 5);
}

TEST(CausalityAudit, WithARootOnlyThatWhichWaitsIsCompared) {
  const std::vector members = {member(0, 50, 60, 0, true), member(1, 0, 40), member(2, 70, 90)};
  CausalityAudit broadcast;
  broadcast.check(members, Dependence::kOnRoot);  // the second ended before the root began
  EXPECT_EQ(broadcast.violations(), 1U);
  EXPECT_EQ(broadcast.worst().early_node, 1U);
  CausalityAudit reduce;
  reduce.check(members, Dependence::kOfRoot);  // the root ended before the third began
  EXPECT_EQ(reduce.violations(), 1U);
  EXPECT_EQ(reduce.worst().early_node, 0U);
  EXPECT_EQ(reduce.worst().late_node, 2U);
  CausalityAudit rootless;
  rootless.check(std::vector{member(0, 50, 60), member(1, 0, 40)}, Dependence::kOnRoot);
  EXPECT_EQ(rootless.violations(), 0U);
}

TEST(CausalityAudit, AgreesWithComparingEveryPair) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    test::SimRandom random(seed);
    std::vector<AuditMember> members;
    for (int i = 0; i < 12; ++i) {
      const auto start_ns = static_cast<std::int64_t>(random.uniform(0, 1000));
      members.push_back(member(static_cast<std::uint32_t>(random.next() % 5), start_ns,
                               start_ns + static_cast<std::int64_t>(random.uniform(0, 600)), random.uniform(0, 100)));
    }
    double worst_ns = 0;
    std::uint64_t early = 0;
    for (const AuditMember& x : members) {
      double by_ns = 0;
      for (const AuditMember& y : members) {
        if (x.node == y.node) continue;
        by_ns = std::max(by_ns, static_cast<double>(y.start_ns - x.end_ns) - x.clock_error_ns - y.clock_error_ns);
      }
      if (by_ns > 0) ++early;
      worst_ns = std::max(worst_ns, by_ns);
    }
    CausalityAudit audit;
    audit.check(members, Dependence::kAll);
    EXPECT_EQ(audit.violations(), early);
    EXPECT_NEAR(audit.worst().by_ns, worst_ns, 1e-6);
  }
}

}  // namespace
}  // namespace jaxprof::clock
