#include "agent/contract/session_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof {
namespace {

class SessionPageTest : public testing::Test {
 protected:
  void TearDown() override {
    for (SessionPage* page : mapped_) munmap(page, sizeof(SessionPage));
  }
  SessionPage* create() { return keep(create_session_page(path_.c_str())); }
  SessionPage* map() { return keep(map_session_page(path_.c_str())); }
  SessionPage* keep(SessionPage* page) {
    if (page != nullptr) mapped_.push_back(page);
    return page;
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("session");
  std::vector<SessionPage*> mapped_;
};

TEST_F(SessionPageTest, IsTheSameMemoryForBothSides) {
  SessionPage* wrapper = create();
  ASSERT_NE(wrapper, nullptr);
  SessionPage* process = map();
  ASSERT_NE(process, nullptr);
  wrapper->plan.ring_bytes = 4096;
  EXPECT_EQ(process->plan.ring_bytes, 4096u);
  std::uint32_t index = 99;
  ProcessSlot* slot = claim_slot(process, &index);
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(wrapper->slots[0].state.load(), SlotState::kStarting);
  EXPECT_EQ(wrapper->claimed_slots.load(), 1u);
}

TEST_F(SessionPageTest, IsFullyAllocatedAndPrivate) {
  ASSERT_NE(create(), nullptr);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_GE(static_cast<std::size_t>(status.st_size), sizeof(SessionPage));
  EXPECT_GE(status.st_blocks * 512, static_cast<long>(sizeof(SessionPage)));
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(SessionPageTest, IsNotMadeTwice) {
  ASSERT_NE(create(), nullptr);
  EXPECT_EQ(create(), nullptr);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SessionPageTest, AForeignOrShortFileIsRefused) {
  std::ofstream(path_) << "JXSESSN";
  EXPECT_EQ(map(), nullptr);
  std::ofstream(path_) << std::string(sizeof(SessionPage), 'x');
  EXPECT_EQ(map(), nullptr);
  EXPECT_EQ(map_session_page("/no/such/page"), nullptr);
}

TEST_F(SessionPageTest, APageOfAnotherVersionIsRefused) {
  SessionPage* page = create();
  ASSERT_NE(page, nullptr);
  page->plan.version = kSessionVersion + 1;
  EXPECT_EQ(map(), nullptr);
}

TEST_F(SessionPageTest, EverySlotIsGivenOnceAndThenNone) {
  SessionPage* page = create();
  ASSERT_NE(page, nullptr);
  constexpr int kThreads = 4;
  std::vector<std::vector<std::uint32_t>> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (auto& own : taken) {
      threads.emplace_back([page, &own] {
        for (std::uint32_t index; claim_slot(page, &index) != nullptr;) own.push_back(index);
      });
    }
  }
  std::set<std::uint32_t> all;
  for (const auto& own : taken) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), kMaxProcessSlots);
  EXPECT_GE(page->claimed_slots.load(), kMaxProcessSlots);
}

TEST(ProcessStartTicks, TellsALivingProcessFromOneThatIsGone) {
  EXPECT_GT(process_start_ticks(getpid()), 0u);
  EXPECT_EQ(process_start_ticks(getpid()), process_start_ticks(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(process_start_ticks(child), 0u);
}

TEST(DropName, IsThereForEveryReason) {
  std::set<std::string> names;
  for (int i = 0; i < static_cast<int>(Drop::kCount); ++i) names.insert(drop_name(static_cast<Drop>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Drop::kCount));
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace jaxprof
