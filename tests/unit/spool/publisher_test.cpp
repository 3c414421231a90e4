#include "agent/spool/publisher.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "agent/base/atomic_file.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::spool {
namespace {

bool never() {
  return false;
}

class PublisherTest : public testing::Test {
 protected:
  void append(const std::string& bytes) { std::ofstream(local_, std::ios::app | std::ios::binary) << bytes; }
  static std::string content(const std::string& path) { return read_small_file(path, 64 << 20).value_or("(none)"); }

  test::TempFolder folder_;
  std::string local_ = folder_.file("slot0");
  std::string part_ = folder_.file("rank0.jxspool.part");
  std::string final_ = folder_.file("rank0.jxspool");
};

TEST_F(PublisherTest, TheCopyIsAPrefixAfterEveryStep) {
  std::mt19937 random(3);
  append("head");
  auto publisher = Publisher::open(local_, part_);
  ASSERT_TRUE(publisher);
  for (int i = 0; i < 30; ++i) {
    append(std::string(random() % 300'000, static_cast<char>('a' + i % 26)));
    int pieces = static_cast<int>(random() % 3);
    ASSERT_TRUE(publisher->advance([&pieces] { return pieces-- <= 0; }));
    const std::string copy = content(part_);
    ASSERT_EQ(copy.size(), publisher->published_bytes());
    ASSERT_EQ(content(local_).compare(0, copy.size(), copy), 0);
  }
  ASSERT_TRUE(publisher->advance(never));
  EXPECT_TRUE(publisher->is_level());
  EXPECT_TRUE(*publisher->finish(final_, Publisher::Name::kIfAbsent));
  EXPECT_EQ(content(final_), content(local_));
  EXPECT_FALSE(std::filesystem::exists(part_));
}

TEST_F(PublisherTest, ALaterOneGoesOnWhereAnEarlierStopped) {
  append(std::string(3 << 20, 'a'));
  {
    auto first = Publisher::open(local_, part_);
    int pieces = 1;
    EXPECT_EQ(*first->advance([&pieces] { return pieces-- <= 0; }), 1u << 20);
    EXPECT_FALSE(first->is_level());
  }
  append("tail");
  auto second = Publisher::open(local_, part_);
  ASSERT_TRUE(second);
  EXPECT_EQ(*second->advance(never), (2u << 20) + 4);
  EXPECT_EQ(content(part_), content(local_));
}

TEST_F(PublisherTest, NeverTakesANameFromAnotherFile) {
  append("mine");
  std::ofstream(final_) << "theirs";
  auto publisher = Publisher::open(local_, part_);
  ASSERT_TRUE(publisher->advance(never));
  const auto named = publisher->finish(final_, Publisher::Name::kIfAbsent);
  ASSERT_TRUE(named);
  EXPECT_FALSE(*named);
  EXPECT_EQ(content(final_), "theirs");
  EXPECT_EQ(content(part_), "mine");
  EXPECT_TRUE(*publisher->finish(final_, Publisher::Name::kReplace));
  EXPECT_EQ(content(final_), "mine");
}

TEST_F(PublisherTest, ACopyLongerThanItsSpoolIsNotIts) {
  append("short");
  std::ofstream(part_) << "something longer";
  const auto publisher = Publisher::open(local_, part_);
  ASSERT_FALSE(publisher);
  EXPECT_EQ(publisher.error().code, ErrorCode::kOutputFailed);
}

TEST_F(PublisherTest, SaysWhatCannotBeOpened) {
  EXPECT_EQ(Publisher::open(local_, part_).error().code, ErrorCode::kInputUnreadable);
  append("x");
  const auto publisher = Publisher::open(local_, "/no/such/folder/x.part");
  EXPECT_EQ(publisher.error().message, "cannot open /no/such/folder/x.part: No such file or directory");
}

TEST_F(PublisherTest, KeepsWhatFitsOnAFullDisk) {
  // /dev/full takes nothing: the error is told, and nothing counts as published.
  append("x");
  std::filesystem::create_symlink("/dev/full", part_);
  auto publisher = Publisher::open(local_, part_);
  ASSERT_TRUE(publisher);
  const auto copied = publisher->advance(never);
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().message.find("No space left"), std::string::npos);
  EXPECT_EQ(publisher->published_bytes(), 0u);
}

TEST(RenameIfAbsent, RenamesOrLeavesBothAlone) {
  test::TempFolder folder;
  std::ofstream(folder.file("a")) << "a";
  EXPECT_TRUE(*rename_if_absent(folder.file("a"), folder.file("b")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
  std::ofstream(folder.file("c")) << "c";
  EXPECT_FALSE(*rename_if_absent(folder.file("c"), folder.file("b")));
  EXPECT_EQ(*read_small_file(folder.file("b")), "a");
  EXPECT_FALSE(rename_if_absent(folder.file("none"), folder.file("d")));
}

}  // namespace
}  // namespace jaxprof::spool
