#include "agent/base/result.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(Error, WrapPutsTheContextBeforeTheMessage) {
  Error error{ErrorCode::kUsage, "no rank 7"};
  EXPECT_EQ(std::move(error).wrap("--ranks").message, "--ranks: no rank 7");
}

TEST(FailErrno, AddsTheTextOfTheSystemCallsError) {
  errno = ENOENT;
  const Status status = fail_errno(ErrorCode::kOutputFailed, "cannot open x");
  EXPECT_EQ(status.error().message, "cannot open x: No such file or directory");
}

TEST(ExitStatus, IsTheTableOfTheReadme) {
  EXPECT_EQ(exit_status(ErrorCode::kFinding), 1);
  EXPECT_EQ(exit_status(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_status(ErrorCode::kInputUnreadable), 3);
  EXPECT_EQ(exit_status(ErrorCode::kPartial), 4);
  EXPECT_EQ(exit_status(ErrorCode::kOutputFailed), 5);
  EXPECT_EQ(exit_status(ErrorCode::kNodeNotReady), 6);
}

}  // namespace
}  // namespace jaxprof
