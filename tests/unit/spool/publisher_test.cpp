#include "agent/spool/publisher.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "agent/base/atomic_file.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::spool {
namespace {

// Copies until the copy is level or `pieces` are copied; the number of bytes.
Result<std::uint64_t> copy(Publisher& publisher, int pieces = 1 << 20) {
  std::vector<char> room(Publisher::kPieceBytes);
  std::uint64_t sum = 0;
  while (pieces-- > 0) {
    auto copied = publisher.copy_piece(room);
    if (!copied) return copied;
    if (*copied == 0) break;
    sum += *copied;
  }
  return sum;
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
    ASSERT_TRUE(copy(*publisher, static_cast<int>(random() % 3)));
    const std::string part = content(part_);
    ASSERT_EQ(part.size(), publisher->published_bytes());
    ASSERT_EQ(content(local_).compare(0, part.size(), part), 0);
  }
  ASSERT_TRUE(copy(*publisher));
  EXPECT_TRUE(*publisher->finish(final_, Publisher::Name::kIfAbsent));
  EXPECT_EQ(content(final_), content(local_));
  EXPECT_FALSE(std::filesystem::exists(part_));
}

TEST_F(PublisherTest, ALaterOneGoesOnWhereAnEarlierStopped) {
  append(std::string(3 << 20, 'a'));
  {
    auto first = Publisher::open(local_, part_);
    EXPECT_EQ(*copy(*first, 1), 1u << 20);
  }
  append("tail");
  auto second = Publisher::open(local_, part_);
  ASSERT_TRUE(second);
  EXPECT_EQ(*copy(*second), (2u << 20) + 4);
  EXPECT_EQ(content(part_), content(local_));
}

TEST_F(PublisherTest, NeverTakesANameFromAnotherFile) {
  append("mine");
  std::ofstream(final_) << "theirs";
  auto publisher = Publisher::open(local_, part_);
  ASSERT_TRUE(copy(*publisher));
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

TEST_F(PublisherTest, CopiesNoMoreThanTheRoomItIsGiven) {
  append("whole half");
  auto publisher = Publisher::open(local_, part_);
  std::vector<char> room(5);
  EXPECT_EQ(*publisher->copy_piece(room), 5u);
  EXPECT_EQ(content(part_), "whole");
}

TEST_F(PublisherTest, AFileOfAnotherSpoolStaysAsItIs) {
  append("the header of one spool, and more");
  std::ofstream(part_) << "the header of two spools";
  const auto publisher = Publisher::open(local_, part_);
  ASSERT_FALSE(publisher);
  EXPECT_EQ(publisher.error().code, ErrorCode::kOutputFailed);
  EXPECT_EQ(content(part_), "the header of two spools");
  EXPECT_FALSE(is_copy_of_spool(local_, part_));
}

TEST_F(PublisherTest, ACopyIsKnownByTheSpoolsHeader) {
  append("the header of a spool with its random number: as far as here");
  std::ofstream(part_) << "";
  EXPECT_FALSE(is_copy_of_spool(local_, part_)) << "anyone's";
  std::ofstream(part_) << "the header of a spool with its random number";
  EXPECT_TRUE(is_copy_of_spool(local_, part_));
  EXPECT_FALSE(is_copy_of_spool(local_, final_)) << "there is none";
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
  const auto copied = copy(*publisher);
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
