#include "launcher/spool_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/environment.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::launcher {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class SpoolPlaceTest : public testing::Test {
 protected:
  std::string make(const char* name) {
    std::filesystem::create_directory(folder_.file(name));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(SpoolPlaceTest, IsTheFirstFolderThatIsNamed) {
  const std::string a = make("a"), b = make("b"), c = make("c"), d = make("d");
  const test::Environment all({"JAXPROF_TMPDIR=" + b, "SLURM_TMPDIR=" + c, "TMPDIR=" + d});
  EXPECT_EQ(find_spool_place(a, all.env())->base, a);
  EXPECT_EQ(find_spool_place("", all.env())->base, b);
  EXPECT_EQ(find_spool_place("", test::Environment({"SLURM_TMPDIR=" + c, "TMPDIR=" + d}).env())->base, c);
  EXPECT_EQ(find_spool_place("", test::Environment({"SLURM_TMPDIR=", "TMPDIR=" + d}).env())->base, d);
  EXPECT_EQ(find_spool_place("", test::Environment({}).env())->base, "/tmp");
}

TEST_F(SpoolPlaceTest, IsAbsoluteWithoutASlashAtItsEnd) {
  EXPECT_EQ(find_spool_place(make("a") + "//", test::Environment({}).env())->base, folder_.file("a"));
  const auto here = find_spool_place(".", test::Environment({}).env());
  EXPECT_EQ(std::filesystem::path(here->base).is_absolute(), true);
}

TEST_F(SpoolPlaceTest, ThatTheUserNamedIsUsedOrIsAFault) {
  const test::Environment other({"TMPDIR=" + make("d")});
  const auto given = find_spool_place("/no/such", other.env());
  ASSERT_FALSE(given);
  EXPECT_THAT(given.error().message, AllOf(HasSubstr("no spools by --spool: /no/such: No such file or directory"),
                                           HasSubstr("--spool names")));
  const test::Environment own({"JAXPROF_TMPDIR=/no/such", "TMPDIR=" + folder_.file("d")});
  EXPECT_THAT(find_spool_place("", own.env()).error().message, HasSubstr("no spools by JAXPROF_TMPDIR: /no/such"));
}

TEST_F(SpoolPlaceTest, ThatASystemNamedIsPassedByWithANote) {
  const test::Environment env({"SLURM_TMPDIR=/no/such", "TMPDIR=" + make("d")});
  const auto place = find_spool_place("", env.env());
  ASSERT_TRUE(place);
  EXPECT_EQ(place->base, folder_.file("d"));
  EXPECT_THAT(place->notes, ElementsAre("no spools by SLURM_TMPDIR: /no/such: No such file or directory"));
}

TEST_F(SpoolPlaceTest, OnAReadOnlyDiskIsNone) {
  const std::string point = make("ro");
  const test::SmallDisk disk(point, "size=64m");
  if (!disk.has_mounted() || ::mount("", point.c_str(), "", MS_REMOUNT | MS_RDONLY, "") != 0) {
    GTEST_SKIP() << "cannot mount: " << std::strerror(errno);
  }
  EXPECT_THAT(find_spool_place(point, test::Environment({}).env()).error().message,
              HasSubstr(point + ": Read-only file system"));
}

TEST_F(SpoolPlaceTest, WithoutRoomIsAFaultWithNumbers) {
  const std::string point = make("small");
  const test::SmallDisk disk(point, "size=10m");
  if (!disk.has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
  EXPECT_THAT(find_spool_place(point, test::Environment({}).env()).error().message,
              HasSubstr(point + " has 10.5 MB free of 10.5 MB, and "));
}

TEST_F(SpoolPlaceTest, InMemoryIsNotedAndHasASmallerLimit) {
  const std::string point = make("memory");
  const test::SmallDisk disk(point, "size=64m");
  if (!disk.has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
  const auto place = find_spool_place(point, test::Environment({}).env());
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->is_in_memory);
  EXPECT_THAT(place->notes, ElementsAre(point + " is in memory (tmpfs): spools count against the job's memory"));
  EXPECT_EQ(place->spool_limit_bytes(std::nullopt), 512 << 20);
  EXPECT_EQ(describe(*place, 1 << 20), point + " (tmpfs, 67.1 MB free of 67.1 MB), at most 1.0 MB");
}

TEST_F(SpoolPlaceTest, HasALimitThatTheUserMayChange) {
  SpoolPlace place;
  EXPECT_EQ(place.spool_limit_bytes(std::nullopt), std::int64_t{4} << 30);
  EXPECT_EQ(place.spool_limit_bytes(1000), 1000);
  EXPECT_EQ(place.spool_limit_bytes(0), 0);
  place.base = "/x";
  EXPECT_EQ(describe(place, 0), "/x (unknown file system), without a limit");
}

}  // namespace
}  // namespace jaxprof::launcher
