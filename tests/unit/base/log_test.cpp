#include "agent/base/log.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(Say, OneLineStaysOne) {
  testing::internal::CaptureStderr();
  say("range a\nb\x1b[2J\x7f of µs");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "jaxprof: range a?b?[2J? of µs\n");
}

}  // namespace
}  // namespace jaxprof
