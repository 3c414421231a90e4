// Parts that threads make come out in order, no more of them than there is room for.
#include "merge/assembly/ordered_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <stdexcept>

namespace jaxprof::assembly {
namespace {

TEST(OrderedParts, ComeOutInTheirOrderWhateverTheyTake) {
  constexpr std::size_t kCount = 200;
  OrderedParts<std::size_t> parts(
      kCount, 4, 1000, [](std::size_t) { return 1; },
      [](std::size_t i) {
        std::mt19937 random(static_cast<unsigned>(i));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        return i * i;
      });
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(parts.next(), i * i);
}

TEST(OrderedParts, LieBesideEachOtherOnlyWithinTheBudget) {
  std::atomic<std::size_t> alive{0};
  std::atomic<std::size_t> most{0};
  struct Part {
    std::atomic<std::size_t>* alive = nullptr;
    std::size_t bytes = 0;
    Part(std::atomic<std::size_t>* counter, std::size_t size) : alive(counter), bytes(size) {}
    Part(Part&& other) noexcept : alive(std::exchange(other.alive, nullptr)), bytes(other.bytes) {}
    Part& operator=(Part&&) = delete;
    ~Part() {
      if (alive != nullptr) *alive -= bytes;
    }
  };
  const auto bytes = [](std::size_t i) { return std::size_t{10} + 25 * (i % 3); };  // 10, 35, 60
  OrderedParts<Part> parts(60, 4, 70, bytes, [&](std::size_t i) {
    const std::size_t now = alive += bytes(i);
    std::size_t seen = most.load();
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    return Part(&alive, bytes(i));
  });
  for (int i = 0; i < 60; ++i) {
    const Part part = parts.next();
    EXPECT_EQ(part.bytes, bytes(static_cast<std::size_t>(i)));
  }
  EXPECT_LE(most.load(), 70u + 60u) << "the budget, and the one that must be made for the rest to go on";
}

TEST(OrderedParts, WhatMakingOneThrowsComesOutInItsPlace) {
  OrderedParts<int> parts(
      3, 2, 100, [](std::size_t) { return 1; },
      [](std::size_t i) {
        if (i == 1) throw std::runtime_error("one");
        return static_cast<int>(i);
      });
  EXPECT_EQ(parts.next(), 0);
  EXPECT_THROW(parts.next(), std::runtime_error);
  EXPECT_EQ(parts.next(), 2);
}

TEST(OrderedParts, MayBeLeftUntaken) {
  std::atomic<int> made{0};
  {
    OrderedParts<int> parts(
        1000, 3, 100, [](std::size_t) { return 1; }, [&made](std::size_t i) { return ++made, static_cast<int>(i); });
    EXPECT_EQ(parts.next(), 0);
  }
  EXPECT_LE(made.load(), 1 + 2 * 3 + 3);
}

}  // namespace
}  // namespace jaxprof::assembly
