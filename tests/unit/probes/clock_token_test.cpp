#include "netsampler/clock/clock_token.h"

#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::netsampler {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class TakeClockToken : public testing::Test {
 protected:
  void make_file(const std::string& content, mode_t mode) {
    std::ofstream(path_) << content;
    chmod(path_.c_str(), mode);
  }
  std::string refusal() {
    const auto token = take_clock_token(path_);
    if (token) return "believed";
    EXPECT_EQ(token.error().code, ErrorCode::kNodeNotReady);
    return token.error().message;
  }
  std::size_t n_files() { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder()), {})); }
  std::string folder() { return fs::path(path_).parent_path(); }

  test::TempFolder base_;
  std::string path_ = base_.file("token");
};

TEST_F(TakeClockToken, TheFirstMakesItAndTheOthersReadIt) {
  const mode_t old = umask(0);
  const auto first = take_clock_token(path_);
  umask(old);
  const auto second = take_clock_token(path_);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*first, ClockToken{});
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(status.st_size, 32);
  EXPECT_EQ(status.st_nlink, 1U);
  EXPECT_EQ(n_files(), 1U) << "no temporary file is left";
  fs::remove(path_);
  EXPECT_NE(*take_clock_token(path_), *first) << "tokens are random";
}

// Files of a thread belong to its file system user, as those of a process do to the user that a server maps it to.
TEST_F(TakeClockToken, OneOfTheUserThatTheServerMapsThisOneToIsBelieved) {
  constexpr uid_t kMapped = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root takes another user for its files";
  chmod(folder().c_str(), 0777);
  setfsuid(kMapped);
  const auto first = take_clock_token(path_);
  const auto second = take_clock_token(path_);
  struct stat status {};
  stat(path_.c_str(), &status);
  setfsuid(0);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(status.st_uid, kMapped);
  EXPECT_THAT(refusal(), HasSubstr("it belongs to user 65534, not to 0")) << "whose own files are not mapped";
  EXPECT_EQ(n_files(), 1U) << "nothing is left of the trial";
}

TEST_F(TakeClockToken, AUmaskThatForbidsEverythingIsNoObstacle) {
  const mode_t old = umask(0777);
  const auto token = take_clock_token(path_);
  umask(old);
  ASSERT_TRUE(token);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(TakeClockToken, ProcessesThatRaceGetOneToken) {
  constexpr int kRounds = 20;
  constexpr int kProcesses = 6;
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = base_.file(("token" + std::to_string(round)).c_str());
    int start[2];
    int answers[2];
    ASSERT_EQ(pipe(start), 0);
    ASSERT_EQ(pipe(answers), 0);
    for (int i = 0; i < kProcesses; ++i) {
      if (fork() != 0) continue;
      close(start[1]);
      char none = 0;
      static_cast<void>(read(start[0], &none, 1));  // returns for all at once
      const auto token = take_clock_token(path);
      const bool is_told =
          token && write(answers[1], token->data(), token->size()) == static_cast<ssize_t>(kTokenBytes);
      _exit(is_told ? 0 : 1);
    }
    close(start[0]);
    close(answers[1]);
    close(start[1]);
    std::set<ClockToken> tokens;
    ClockToken token{};
    int n_answers = 0;
    while (read(answers[0], token.data(), token.size()) == static_cast<ssize_t>(kTokenBytes)) {
      tokens.insert(token);
      ++n_answers;
    }
    close(answers[0]);
    for (int i = 0; i < kProcesses; ++i) {
      int status = 0;
      wait(&status);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(n_answers, kProcesses);
    EXPECT_EQ(tokens.size(), 1U);
  }
  EXPECT_EQ(n_files(), static_cast<std::size_t>(kRounds));
}

TEST_F(TakeClockToken, AFileThatOthersMayOpenIsNotBelieved) {
  for (const mode_t mode : {0640U, 0604U, 0602U, 0610U, 0666U}) {
    make_file(std::string(32, 'x'), mode);
    EXPECT_THAT(refusal(), HasSubstr("others may open it"));
    EXPECT_THAT(refusal(), HasSubstr(path_));
  }
  make_file(std::string(32, 'x'), 0600);
  EXPECT_TRUE(take_clock_token(path_));
}

TEST_F(TakeClockToken, AFileOfAnotherSizeIsNotBelieved) {
  make_file(std::string(31, 'x'), 0600);
  EXPECT_THAT(refusal(), HasSubstr("it has 31 bytes, not 32"));
  make_file("", 0600);
  EXPECT_THAT(refusal(), HasSubstr("it has 0 bytes"));
  make_file(std::string(64, 'x'), 0600);
  EXPECT_THAT(refusal(), HasSubstr("it has 64 bytes"));
  EXPECT_EQ(fs::file_size(path_), 64U) << "it is left alone";
}

TEST_F(TakeClockToken, AFileOfAnotherUserIsNotBelieved) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  make_file(std::string(32, 'x'), 0600);
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(), HasSubstr("it belongs to user 12345, not to 0"));
}

TEST_F(TakeClockToken, OnlyARegularFileIsBelieved) {
  const std::string real = base_.file("real");
  std::ofstream(real) << std::string(32, 'x');
  chmod(real.c_str(), 0600);
  fs::create_symlink(real, path_);
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file")) << "and nobody waits for a writer";
}

TEST_F(TakeClockToken, WithoutAFolderTheReasonIsTold) {
  path_ = base_.file("nothing/token");
  EXPECT_THAT(refusal(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace jaxprof::netsampler
