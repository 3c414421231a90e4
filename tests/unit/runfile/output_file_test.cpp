// The name appears with the whole file or not at all, and nobody's file is overwritten unasked.
#include "merge/runfile/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/run_file_writer.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/runfile/temp_folder.h"

namespace jaxprof::runfile {
namespace {

using testing::HasSubstr;

TEST(OutputFile, RefusesToReplaceAFile) {
  const test::TempFolder folder;
  std::ofstream(folder.file("run.h5")) << "mine";
  const auto written = write_run_file(test::sample_run(), folder.file("run.h5"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kOutputFailed);
  EXPECT_THAT(written.error().message, HasSubstr(folder.file("run.h5") + ": exists already"));
  EXPECT_EQ(std::filesystem::file_size(folder.file("run.h5")), 4U);
  EXPECT_FALSE(std::filesystem::exists(folder.file("run.h5.part")));
}

TEST(OutputFile, ReplacesAFileWhenAsked) {
  const test::TempFolder folder;
  std::ofstream(folder.file("run.h5")) << "old";
  ASSERT_TRUE(write_run_file(test::sample_run(), folder.file("run.h5"), {.may_replace = true}));
  EXPECT_TRUE(RunFileReader::open(folder.file("run.h5")));
}

TEST(OutputFile, NeverReplacesWhatIsNoRegularFile) {
  const test::TempFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.file("folder"));
  std::filesystem::create_symlink(folder.file("fifo"), folder.file("link"));
  for (const char* name : {"fifo", "folder", "link"}) {
    const auto before = std::filesystem::symlink_status(folder.file(name)).type();
    const auto written = write_run_file(test::sample_run(), folder.file(name), {.may_replace = true});
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().code, ErrorCode::kOutputFailed);
    EXPECT_THAT(written.error().message, HasSubstr(folder.file(name) + ": is not a regular file"));
    EXPECT_EQ(std::filesystem::symlink_status(folder.file(name)).type(), before) << name;
    EXPECT_FALSE(std::filesystem::exists(folder.file(name) + ".part"));
  }
}

TEST(OutputFile, KeepsAFileThatAppearedWhileItWrote) {
  const test::TempFolder folder;
  auto output = OutputFile::create(folder.file("run.h5"), false);
  ASSERT_TRUE(output);
  std::ofstream(folder.file("run.h5")) << "theirs";
  const auto published = output->publish();
  ASSERT_FALSE(published);
  EXPECT_THAT(published.error().message, HasSubstr("exists already"));
  EXPECT_EQ(std::filesystem::file_size(folder.file("run.h5")), 6U);
}

TEST(OutputFile, RemovesThePartWhenItIsNotPublished) {
  const test::TempFolder folder;
  {
    const auto output = OutputFile::create(folder.file("run.h5"), false);
    ASSERT_TRUE(output);
    EXPECT_TRUE(std::filesystem::exists(folder.file("run.h5.part")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OutputFile, LetsOnlyOneMergeWriteAPart) {
  const test::TempFolder folder;
  const auto first = OutputFile::create(folder.file("run.h5"), false);
  ASSERT_TRUE(first);
  const auto second = OutputFile::create(folder.file("run.h5"), false);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another merge is writing it"));
  EXPECT_TRUE(std::filesystem::exists(folder.file("run.h5.part")));
}

TEST(OutputFile, WritesOverThePartOfADeadMerge) {
  const test::TempFolder folder;
  std::ofstream(folder.file("run.h5.part")) << std::string(1 << 20, 'x');
  ASSERT_TRUE(write_run_file(test::sample_run(), folder.file("run.h5")));
  EXPECT_TRUE(RunFileReader::open(folder.file("run.h5")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("run.h5.part")));
}

TEST(OutputFile, NamesAFolderThatIsNotThere) {
  const auto written = write_run_file(test::sample_run(), "/nonexistent/run.h5");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("/nonexistent/run.h5.part: cannot be created: No such file"));
}

// A tmpfs of 64 KiB: the sample does not fit, whichever write meets the end.
TEST(OutputFile, SaysThatTheDiskIsFullAndLeavesNothing) {
  const test::TempFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    const char* required = std::getenv("JAXPROF_REQUIRE");
    ASSERT_TRUE(required == nullptr || std::string_view{required}.find("mount") == std::string_view::npos);
    GTEST_SKIP() << "needs the right to mount a tmpfs";
  }
  const auto written = write_run_file(test::long_run(200'000), folder.file("run.h5"));
  const bool is_empty = std::filesystem::is_empty(folder.path());
  ::umount2(folder.path().c_str(), MNT_DETACH);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kOutputFailed);
  EXPECT_THAT(written.error().message, HasSubstr("No space left on device"));
  EXPECT_THAT(written.error().message, HasSubstr(folder.file("run.h5")));
  EXPECT_TRUE(is_empty);
}

}  // namespace
}  // namespace jaxprof::runfile
