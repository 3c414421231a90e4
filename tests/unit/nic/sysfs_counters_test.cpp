#include "netsampler/nic/sysfs_counters.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "agent/spool/sample_codec.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace jaxprof::netsampler {
namespace {

using spool::kMissingSample;

SysfsCounter open_counter(const test::SysfsTree& tree, const std::string& name, int expected_error = 0) {
  int error = 0;
  SysfsCounter counter = SysfsCounter::open(tree.root() + "/" + name, name, &error);
  EXPECT_EQ(error, expected_error) << name;
  return counter;
}

TEST(SysfsCounter, SaysWhyItCannotBeUsed) {
  test::SysfsTree tree;
  tree.write("no_number", "N/A (no PMA)\n");
  tree.write("folder/file", "1");
  open_counter(tree, "no_number", ENODATA);
  open_counter(tree, "missing", ENOENT);
  open_counter(tree, "folder", EISDIR);
}

TEST(SysfsCounter, StaysOpenWhereItsFileIsRenamed) {
  test::SysfsTree tree;
  tree.write("card/a", "5\n");
  const SysfsCounter counter = open_counter(tree, "card/a");
  std::filesystem::rename(tree.root() + "/card", tree.root() + "/renamed");
  tree.write("renamed/a", "123456789\n");
  std::uint64_t value = 0;
  EXPECT_EQ(counter.read(&value), 0);
  EXPECT_EQ(value, 123456789U);
}

TEST(SysfsCounters, PutValuesIntoTheirColumns) {
  test::SysfsTree tree;
  tree.write("a", "1\n");
  tree.write("b", "2\n");
  std::vector<std::pair<SysfsCounter, std::size_t>> counters;
  counters.emplace_back(open_counter(tree, "a"), 2);
  counters.emplace_back(open_counter(tree, "b"), 0);
  SysfsCounters source(std::move(counters));
  std::vector<std::uint64_t> values(3, kMissingSample);
  EXPECT_EQ(source.read(values), ReadOutcome::kOk);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{2, kMissingSample, 1}));
}

TEST(SysfsCounters, LeaveOutColumnsThatAreNotWanted) {
  test::SysfsTree tree;
  tree.write("a", "1\n");
  tree.write("b", "2\n");
  std::vector<std::pair<SysfsCounter, std::size_t>> counters;
  counters.emplace_back(open_counter(tree, "a"), 0);
  counters.emplace_back(open_counter(tree, "b"), 1);
  SysfsCounters source(std::move(counters));
  std::vector<std::uint64_t> values(1, kMissingSample);
  EXPECT_EQ(source.read(values), ReadOutcome::kOk);
  EXPECT_EQ(values[0], 1U);
}

TEST(SysfsCounters, MissAValueForAWhile) {
  test::SysfsTree tree;
  tree.write("a", "1\n");
  std::vector<std::pair<SysfsCounter, std::size_t>> counters;
  counters.emplace_back(open_counter(tree, "a"), 0);
  SysfsCounters source(std::move(counters));
  std::vector<std::uint64_t> values(1, kMissingSample);
  tree.write("a", "");
  EXPECT_EQ(source.read(values), ReadOutcome::kOk);
  EXPECT_EQ(values[0], kMissingSample);
  tree.write("a", "7\n");
  EXPECT_EQ(source.read(values), ReadOutcome::kOk);
  EXPECT_EQ(values[0], 7U);
}

}  // namespace
}  // namespace jaxprof::netsampler
