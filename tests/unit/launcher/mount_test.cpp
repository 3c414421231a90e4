#include "launcher/mount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::launcher {
namespace {

using testing::HasSubstr;

constexpr const char* kTable =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "31 22 0:27 / /home rw,nosuid shared:14 master:2 propagate_from:1 - nfs4 server:/home rw,vers=4.2\n"
    "32 22 0:28 / /mnt/with\\040blank\\134and\\011tab rw - fuse.sshfs me@host:/\\040x rw\n"
    "33 22 0:29 / /cut rw shared:3\n"
    "3 22 0:30 / /run rw - tmpfs none rw\n";

TEST(FindMount, FindsTheLineWithThisNumber) {
  const auto root = find_mount(kTable, 22);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->point, "/");
  EXPECT_EQ(root->type, "ext4");
  EXPECT_EQ(root->source, "/dev/sda1");
  EXPECT_EQ(find_mount(kTable, 3)->type, "tmpfs");
}

TEST(FindMount, StepsOverOptionalFieldsHoweverMany) {
  EXPECT_EQ(find_mount(kTable, 31)->type, "nfs4");
  EXPECT_EQ(find_mount(kTable, 31)->source, "server:/home");
  EXPECT_EQ(find_mount(kTable, 32)->type, "fuse.sshfs");
}

TEST(FindMount, ResolvesOctalEscapes) {
  EXPECT_EQ(find_mount(kTable, 32)->point, "/mnt/with blank\\and\ttab");
  EXPECT_EQ(find_mount(kTable, 32)->source, "me@host:/ x");
  EXPECT_EQ(find_mount("1 2 0:1 / /a\\04 rw - x \\999 rw", 1)->point, "/a\\04") << "an escape has three digits";
}

TEST(FindMount, KnowsNothingOfOtherNumbersOrCutLines) {
  EXPECT_FALSE(find_mount(kTable, 4));
  EXPECT_FALSE(find_mount(kTable, 33));
  EXPECT_FALSE(find_mount("", 1));
  EXPECT_FALSE(find_mount("\n\n-\n1", 1));
}

TEST(ParseMountId, TakesItFromAmongTheOtherLines) {
  EXPECT_EQ(parse_mount_id("pos:\t0\nflags:\t012000000\nmnt_id:\t29\nino:\t2\n"), 29);
  EXPECT_FALSE(parse_mount_id("pos:\t0\nflags:\t0\n"));
  EXPECT_FALSE(parse_mount_id("mnt_id:\tx\n"));
  EXPECT_FALSE(parse_mount_id("mnt_id:"));
}

TEST(StorageOf, TellsTheNodesDisksFromWhatIsShared) {
  for (const char* type : {"ext4", "xfs", "btrfs", "zfs", "overlay", "f2fs", "fuse.fuse-overlayfs", "fuseblk", ""}) {
    EXPECT_EQ(storage_of(type), Storage::kNode) << type;
  }
  for (const char* type :
       {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "afs", "9p", "panfs",
        "pvfs2", "orangefs", "wekafs", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "fuse"}) {
    EXPECT_EQ(storage_of(type), Storage::kShared) << type;
  }
  EXPECT_EQ(storage_of("tmpfs"), Storage::kMemory);
  EXPECT_EQ(storage_of("ramfs"), Storage::kMemory);
}

TEST(MountOf, AsksTheKernel) {
  EXPECT_EQ(mount_of("/proc")->type, "proc");
  const auto missing = mount_of("/no/such/folder");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "/no/such/folder: No such file or directory");
  EXPECT_THAT(mount_of("/proc/self/status").error().message, HasSubstr("Not a directory"));
}

TEST(MountOf, SeesAMountWhoseNameHasABlank) {
  const test::TempFolder folder;
  const std::string point = folder.file("a blank");
  std::filesystem::create_directory(point);
  const test::SmallDisk disk(point);
  if (!disk.has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
  EXPECT_EQ(mount_of(point)->type, "tmpfs");
  EXPECT_EQ(mount_of(point)->point, point);
}

}  // namespace
}  // namespace jaxprof::launcher
