#include "agent/cupti/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace jaxprof::cupti {
namespace {

using Returned = BufferPool::Returned;

TEST(BufferPool, HandsOutZeroedBuffersUpToItsCap) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(6 * BufferPool::kBufferBytes, false));
  std::set<std::uint8_t*> buffers;
  for (int i = 0; i < 6; ++i) {
    std::size_t bytes = 0;
    std::uint8_t* buffer = pool.take(&bytes);
    EXPECT_EQ(bytes, BufferPool::kBufferBytes);
    EXPECT_EQ(std::count(buffer, buffer + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
    buffers.insert(buffer);
  }
  EXPECT_EQ(buffers.size(), 6U);
  EXPECT_EQ(pool.held_by_cupti(), 6U);
}

TEST(BufferPool, HasAFewBuffersHoweverSmallTheCap) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  EXPECT_EQ(pool.buffer_count(), BufferPool::kMinBuffers);
}

TEST(BufferPool, GivesAReadBufferOutAgainWithItsUsedPartCleared) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  std::size_t bytes = 0;
  std::uint8_t* buffer = pool.take(&bytes);
  std::fill(buffer, buffer + 1000, std::uint8_t{7});
  EXPECT_EQ(pool.give(buffer, 1000), Returned::kToRead);
  BufferPool::Buffer read;
  ASSERT_TRUE(pool.next_to_read(&read));
  EXPECT_EQ(read.data, buffer);
  EXPECT_EQ(read.valid_bytes, 1000U);
  EXPECT_EQ(pool.unread(), 1U);
  pool.recycle(read);
  EXPECT_EQ(pool.unread(), 0U);
  EXPECT_EQ(std::count(buffer, buffer + 1000, 0), 1000);
  EXPECT_EQ(pool.take(&bytes), buffer);
}

TEST(BufferPool, ReadsBuffersInTheOrderInWhichTheyCameBack) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  std::size_t bytes = 0;
  std::uint8_t* buffers[3] = {pool.take(&bytes), pool.take(&bytes), pool.take(&bytes)};
  pool.give(buffers[1], 8);
  pool.give(buffers[0], 8);
  pool.give(buffers[2], 8);
  std::vector<std::uint8_t*> order;
  for (BufferPool::Buffer read; pool.next_to_read(&read);) order.push_back(read.data);
  EXPECT_EQ(order, (std::vector<std::uint8_t*>{buffers[1], buffers[0], buffers[2]}));
}

TEST(BufferPool, KnowsWhetherABufferOfThatTimeIsStillOut) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  std::size_t bytes = 0;
  std::uint8_t* first = pool.take(&bytes);
  std::uint8_t* second = pool.take(&bytes);
  const std::uint64_t then = pool.takes();
  pool.take(&bytes);
  EXPECT_TRUE(pool.is_held_since(then));
  pool.give(first, 8);
  EXPECT_TRUE(pool.is_held_since(then));
  pool.give(second, 0);
  EXPECT_FALSE(pool.is_held_since(then)) << "the third was taken later";
  EXPECT_EQ(pool.take(&bytes), second);
  EXPECT_FALSE(pool.is_held_since(then)) << "and so was this one";
}

TEST(BufferPool, NeedsNoReaderForAnEmptyBuffer) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  std::size_t bytes = 0;
  std::uint8_t* buffer = pool.take(&bytes);
  EXPECT_EQ(pool.give(buffer, 0), Returned::kEmpty);
  EXPECT_EQ(pool.held_by_cupti(), 0U);
  EXPECT_EQ(pool.take(&bytes), buffer);
}

TEST(BufferPool, NeverRefusesWhenItIsEmpty) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < BufferPool::kMinBuffers; ++i) pool.take(&bytes);
  std::set<std::uint8_t*> discarded;
  for (std::uint32_t i = 0; i < 2 * BufferPool::kDiscardBuffers; ++i) {
    std::uint8_t* buffer = pool.take(&bytes);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(bytes, BufferPool::kDiscardBytes);
    discarded.insert(buffer);
  }
  EXPECT_EQ(discarded.size(), BufferPool::kDiscardBuffers);
  for (std::uint8_t* buffer : discarded) {
    EXPECT_EQ(pool.give(buffer, 96), Returned::kDiscarded);
    pool.release_discarded(buffer, 96);
  }
  BufferPool::Buffer read;
  EXPECT_FALSE(pool.next_to_read(&read));
}

TEST(BufferPool, RefusesAtLastWhereCuptiTakesThat) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, true));
  std::size_t bytes = 0;
  const std::uint32_t all = BufferPool::kMinBuffers + BufferPool::kDiscardBuffers - 1;
  for (std::uint32_t i = 0; i < all; ++i) ASSERT_NE(pool.take(&bytes), nullptr);
  EXPECT_EQ(pool.take(&bytes), nullptr);
  EXPECT_EQ(bytes, 0U);
  EXPECT_EQ(pool.held_by_cupti(), all);
}

TEST(BufferPool, KnowsBuffersThatAreNotItsOwn) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, false));
  std::vector<std::uint8_t> other(64);
  EXPECT_EQ(pool.give(other.data(), 64), Returned::kForeign);
  EXPECT_EQ(pool.held_by_cupti(), 0U);
}

TEST(BufferPool, LosesNothingBetweenManyWritersAndOneReader) {
  constexpr int kWriters = 4;
  constexpr std::uint64_t kRounds = 5000;
  BufferPool pool;
  ASSERT_TRUE(pool.open(8 * BufferPool::kBufferBytes, false));
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> discarded{0};
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&] {
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        std::size_t bytes = 0;
        std::uint8_t* buffer = pool.take(&bytes);
        if (bytes == BufferPool::kBufferBytes) buffer[0] = 1;  // of a shared one nobody may count on anything
        if (pool.give(buffer, 8) == Returned::kToRead) {
          written.fetch_add(1);
        } else {
          discarded.fetch_add(1);
          pool.release_discarded(buffer, 8);
        }
      }
      running.fetch_sub(1);
    });
  }
  std::uint64_t read = 0;
  for (bool is_last = false; !is_last;) {
    is_last = running.load() == 0;
    for (BufferPool::Buffer buffer; pool.next_to_read(&buffer); ++read) {
      ASSERT_EQ(buffer.data[0], 1);
      pool.recycle(buffer);
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read, written.load());
  EXPECT_EQ(written.load() + discarded.load(), kWriters * kRounds);
  EXPECT_EQ(pool.held_by_cupti(), 0U);
  EXPECT_EQ(pool.unread(), 0U);
}

TEST(BufferPool, AwaitsNothingThatIsWrittenOff) {
  BufferPool pool;
  ASSERT_TRUE(pool.open(0, true));
  std::size_t bytes = 0;
  std::uint8_t* first = pool.take(&bytes);
  std::uint8_t* second = pool.take(&bytes);
  EXPECT_FALSE(pool.take_back_written_off());
  pool.write_off(pool.awaited_from_cupti());
  EXPECT_EQ(pool.awaited_from_cupti(), 0U);
  EXPECT_EQ(pool.held_by_cupti(), 2U) << "it still has them";
  std::uint8_t* third = pool.take(&bytes);
  EXPECT_EQ(pool.awaited_from_cupti(), 1U);
  for (std::uint8_t* back : {third, first}) {
    EXPECT_TRUE(pool.take_back_written_off());
    pool.give(back, 0);
  }
  EXPECT_EQ(pool.awaited_from_cupti(), 1U) << "one is still there, and none is written off";
  EXPECT_FALSE(pool.take_back_written_off());
  pool.give(second, 0);
  EXPECT_EQ(pool.awaited_from_cupti(), 0U);
}

}  // namespace
}  // namespace jaxprof::cupti
