#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/assembly/run_time.h"
#include "tests/unit/assembly/findings_case.h"

namespace jaxprof::assembly {
namespace {

using test::kSecond;
using test::Recording;

TEST(RunTime, CountsFromTheFirstStampAndNamesTimesBeforeIt) {
  test::RunFolder folder;
  folder.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");  // from 1 s after the epoch
  const RunSources sources = open_sources(rundir::read_run_directory(folder.path())->runs.at(0));
  const RunTime time(sources);
  EXPECT_EQ(time.words(2 * kSecond + 7'000'000), "00:00:02.007Z, 1.0 s after the run began");
  EXPECT_EQ(time.words(500'000'000), "00:00:00.500Z, 0.5 s before the run began");
  EXPECT_EQ(time.words(-1), "an unknown time");
  EXPECT_EQ(RunTime(RunSources{}).words(0), "00:00:00.000Z");
}

}  // namespace
}  // namespace jaxprof::assembly
