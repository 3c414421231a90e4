#include "merge/program/observer_end.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/rundir/node_spool.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::merge {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class ObserverEnd : public testing::Test {
 protected:
  // How long was waited for it.
  steady_clock::duration wait() const {
    const auto begin = steady_clock::now();
    wait_for_observers({path_});
    return steady_clock::now() - begin;
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("node.n0.0.0.jxspool");
  test::NodeSpool spool_;
};

TEST_F(ObserverEnd, OneThatIsStillWritingIsWaitedFor) {
  test::write_file(path_, spool_.bytes(false));
  std::jthread observer([this] {
    std::this_thread::sleep_for(milliseconds(300));
    test::write_file(path_, spool_.bytes(true));
  });
  EXPECT_GE(wait(), milliseconds(200));
}

TEST_F(ObserverEnd, OneThatNeverEndsIsWaitedForTwoSeconds) {
  test::write_file(path_, spool_.bytes(false));
  EXPECT_GE(wait(), milliseconds(2000));
}

TEST_F(ObserverEnd, OneThatWasKilledLongAgoIsNot) {
  test::write_file(path_, spool_.bytes(false));
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), long_ago, 0), 0);
  EXPECT_LT(wait(), milliseconds(2000));
}

TEST_F(ObserverEnd, OneThatHasEndedOrIsGoneIsNot) {
  test::write_file(path_, spool_.bytes(true));
  EXPECT_LT(wait(), milliseconds(2000));
  path_ = folder_.file("none");
  EXPECT_LT(wait(), milliseconds(2000));
}

}  // namespace
}  // namespace jaxprof::merge
