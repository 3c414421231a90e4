#include "agent/cupti/notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace jaxprof::cupti {
namespace {

using testing::ElementsAre;

// What was published, by threads of which only one may be at it.
struct Published {
  std::atomic<int> writers{0};
  int most_writers = 0;
  std::vector<std::string> notes;
  std::unique_ptr<Notices> notices = std::make_unique<Notices>();
  std::string posted_meanwhile;  // left by a handler while the first note is being published
};
Published* published = nullptr;

void publish(GpuMode, const char* note) {
  published->most_writers = std::max(published->most_writers, ++published->writers);
  if (!published->posted_meanwhile.empty()) {
    const std::string meanwhile = std::exchange(published->posted_meanwhile, "");
    EXPECT_TRUE(published->notices->post(GpuMode::kAlone, meanwhile.c_str(), publish));
  }
  published->notes.emplace_back(note);
  --published->writers;
}

class NoticesTest : public testing::Test {
 protected:
  NoticesTest() { published = &published_; }
  bool post(const std::string& note) { return published_.notices->post(GpuMode::kAlone, note.c_str(), publish); }
  Published published_;
};

TEST_F(NoticesTest, ArePublishedInTheirOrder) {
  EXPECT_TRUE(post("first"));
  EXPECT_TRUE(post(""));
  EXPECT_TRUE(post("third"));
  EXPECT_THAT(published_.notes, ElementsAre("first", "", "third"));
}

TEST_F(NoticesTest, LeftWhileOneIsPublishedComeAfterIt) {
  published_.posted_meanwhile = "of a signal handler";
  EXPECT_TRUE(post("interrupted"));
  EXPECT_THAT(published_.notes, ElementsAre("interrupted", "of a signal handler"));
  EXPECT_EQ(published_.most_writers, 1);
}

TEST_F(NoticesTest, AreCut) {
  EXPECT_TRUE(post(std::string(2 * kNoteBytes, 'x')));
  EXPECT_EQ(published_.notes.at(0), std::string(kNoteBytes - 1, 'x'));
}

TEST_F(NoticesTest, OfSeveralThreadsAreAllPublishedByOneAtATime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, thread, &refused] {
        for (int i = 0; i < kEach; ++i) {
          if (!post(std::to_string(thread) + " " + std::to_string(i))) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(published_.most_writers, 1);
  EXPECT_EQ(published_.notes.size() + static_cast<std::size_t>(refused), std::size_t{kThreads} * kEach);
  std::vector<int> next(kThreads, 0);
  for (const std::string& note : published_.notes) {
    const auto thread = static_cast<std::size_t>(note[0] - '0');
    const int number = std::stoi(note.substr(2));
    EXPECT_GE(number, next.at(thread)) << "before an earlier one of its thread";
    next.at(thread) = number + 1;
  }
}

}  // namespace
}  // namespace jaxprof::cupti
