#include "merge/scratch/scratch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::scratch {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(ScratchFile, GivesBackAnyStretchOfWhatWasAppended) {
  const test::TempFolder folder;
  auto file = ScratchFile::create(folder.path());
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->append(bytes_of("first ")));
  ASSERT_TRUE(file->append(bytes_of("second")));
  EXPECT_EQ(file->size_bytes(), 12u);
  std::vector<std::byte> stretch(8);
  ASSERT_TRUE(file->read(4, stretch));
  EXPECT_EQ(stretch, bytes_of("t second"));
}

TEST(ScratchFile, HasNoName) {
  const test::TempFolder folder;
  const auto file = ScratchFile::create(folder.path());
  ASSERT_TRUE(file);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchFile, ReadsNothingBeyondItsEnd) {
  const test::TempFolder folder;
  auto file = ScratchFile::create(folder.path());
  ASSERT_TRUE(file && file->append(bytes_of("1234")));
  std::vector<std::byte> stretch(3);
  const Status status = file->read(2, stretch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kOutputFailed);
  EXPECT_THAT(status.error().message, HasSubstr("ends at byte 4, 1 bytes too early"));
}

TEST(ScratchFile, NamesTheFolderThatCannotHoldIt) {
  const test::TempFolder folder;
  const auto file = ScratchFile::create(folder.file("absent"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kOutputFailed);
  EXPECT_EQ(file.error().message,
            "cannot make a scratch file in " + folder.file("absent") + ": No such file or directory");
}

}  // namespace
}  // namespace jaxprof::scratch
