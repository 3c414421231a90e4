#include "merge/export/byte_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::exporting {
namespace {

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ByteFile, AppearsWholeUnderItsName) {
  const jaxprof::test::TempFolder folder;
  const std::string path = folder.file("out");
  auto file = ByteFile::create(path);
  ASSERT_TRUE(file);
  file->buffer() = std::string(3 << 20, 'x');
  file->flush_if_full();
  file->buffer() += "end";
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(file->publish(), (3U << 20) + 3);
  EXPECT_EQ(content(path), std::string(3 << 20, 'x') + "end");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(ByteFile, LeavesWhatWasThereUntilItIsWhole) {
  const jaxprof::test::TempFolder folder;
  const std::string path = folder.file("out");
  std::ofstream(path) << "before";
  { ASSERT_TRUE(ByteFile::create(path)); }
  EXPECT_EQ(content(path), "before");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(ByteFile, LeavesADeviceAlone) {
  const auto file = ByteFile::create("/dev/null");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kOutputFailed);
}

}  // namespace
}  // namespace jaxprof::exporting
