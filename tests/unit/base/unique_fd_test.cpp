#include "agent/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace jaxprof {
namespace {

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

TEST(UniqueFd, ClosesAtItsEnd) {
  int number = -1;
  {
    UniqueFd fd(open("/dev/null", O_RDONLY));
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, MovingHandsTheDescriptorOver) {
  UniqueFd first(open("/dev/null", O_RDONLY));
  UniqueFd second(open("/dev/null", O_RDONLY));
  const int kept = first.get();
  const int closed = second.get();
  second = std::move(first);
  EXPECT_EQ(second.get(), kept);
  EXPECT_FALSE(is_open(closed));
  EXPECT_TRUE(is_open(kept));
}

TEST(UniqueFd, ReleaseGivesUpWithoutClosing) {
  UniqueFd fd(open("/dev/null", O_RDONLY));
  const int number = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(number));
  close(number);
}

}  // namespace
}  // namespace jaxprof
