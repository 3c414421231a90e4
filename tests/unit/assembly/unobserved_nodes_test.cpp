// What nobody read of a node's ports and GPUs although it was asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/rundir/node_spool.h"
#include "tests/unit/rundir/task_files.h"

namespace jaxprof::assembly {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

class UnobservedNodes : public testing::Test {
 protected:
  // A task of node n0 from `begin_s` to `end_s` of the wall clock.
  void add_task(std::int64_t begin_s, std::int64_t end_s, const std::string& trace = "nccl,nic") {
    TaskStart start = test::task_start(0, 1);
    start.realtime_ns = begin_s * kSecond;
    start.trace = trace;
    test::write_start(state(), start);
    TaskEnd end = test::task_end(0);
    end.realtime_ns = end_s * kSecond;
    test::write_end(state(), end);
  }
  void add_observer(std::uint64_t begin_s, std::uint64_t end_s, std::uint32_t segment = 0) {
    test::NodeSpool spool("n0", segment);
    for (const std::uint64_t s : {begin_s, end_s}) {
      const auto stamp = static_cast<std::int64_t>(s) * kSecond;
      spool.anchor({s * 1'000'000'000, stamp, stamp, stamp, 1});
    }
    spool.write(state(), segment);
  }
  std::vector<std::string> findings(const char* code) {
    const AssembledRun run = folder_.assemble();
    return test::findings(run.tables, code);
  }
  std::string state() const { return run_layout::run_state_directory(folder_.path(), "7.0.0"); }

  test::RunFolder folder_;
};

TEST_F(UnobservedNodes, ANodeWithoutAnObserverIsNamed) {
  add_task(100, 110);
  EXPECT_THAT(findings("node.not-observed"), ElementsAre(HasSubstr("node n0 was not observed: no observer left")));
  EXPECT_THAT(findings("node.gap"), IsEmpty());
}

TEST_F(UnobservedNodes, ATimeThatNoClockShowsIsNoGap) {
  add_observer(100, 110);
  add_task(101, 109);
  TaskEnd end = test::task_end(0);
  end.realtime_ns = INT64_MAX;
  test::write_end(state(), end);
  EXPECT_THAT(findings("node.gap"), IsEmpty());
}

TEST_F(UnobservedNodes, WhereNobodyAskedNothingIsMissing) {
  add_task(100, 110, "cuda,nvtx,nccl");
  EXPECT_THAT(findings("node.not-observed"), IsEmpty());
}

TEST_F(UnobservedNodes, AnObserverThatLastsFromTheFirstTaskToTheLastLeavesNoGap) {
  add_task(100, 110);
  add_observer(101, 109);
  EXPECT_THAT(findings("node.not-observed"), IsEmpty());
  EXPECT_THAT(findings("node.gap"), IsEmpty());
}

TEST_F(UnobservedNodes, TimeBeforeAndAfterIsAGap) {
  add_task(100, 120);
  add_observer(105, 112);
  EXPECT_THAT(findings("node.gap"),
              ElementsAre(HasSubstr("not observed for 5.0 s"), HasSubstr("not observed for 8.0 s")));
}

TEST_F(UnobservedNodes, SoIsTimeBetweenTwoObservers) {
  add_task(100, 120);
  add_observer(101, 108);
  add_observer(113, 119, 1);
  EXPECT_THAT(findings("node.gap"), ElementsAre(HasSubstr("not observed for 5.0 s")));
}

}  // namespace
}  // namespace jaxprof::assembly
