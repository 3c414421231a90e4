#include "netsampler/clock/news_queue.h"

#include <gtest/gtest.h>

namespace jaxprof::netsampler {
namespace {

spool::ProbeBurst burst_of(std::size_t exchanges) {
  spool::ProbeBurst burst;
  burst.exchanges.resize(exchanges);
  return burst;
}

TEST(NewsQueue, GivesEverythingOnceAndInItsOrder) {
  NewsQueue queue;
  queue.push(PeerNews{});
  queue.push(burst_of(3));
  queue.push(spool::ClockReading{});
  const auto taken = queue.take();
  ASSERT_EQ(taken.news.size(), 3U);
  EXPECT_EQ(taken.n_lost, 0U);
  EXPECT_TRUE(std::holds_alternative<PeerNews>(taken.news[0]));
  EXPECT_TRUE(std::holds_alternative<spool::ProbeBurst>(taken.news[1]));
  EXPECT_TRUE(queue.take().news.empty());
}

TEST(NewsQueue, BeyondItsLimitMeasurementsAreCountedAndRegistrationsKept) {
  NewsQueue queue;
  for (std::size_t i = 0; i < NewsQueue::kMost; ++i) queue.push(spool::ClockReading{});
  queue.push(spool::ClockReading{});
  queue.push(burst_of(1));
  queue.push(PeerNews{});
  queue.push(ServiceNews{});
  queue.push(ClockNote{});
  auto taken = queue.take();
  EXPECT_EQ(taken.n_lost, 2U);
  EXPECT_EQ(taken.news.size(), NewsQueue::kMost + 3);
  queue.push(spool::ClockReading{});
  taken = queue.take();
  EXPECT_EQ(taken.n_lost, 0U);
  EXPECT_EQ(taken.news.size(), 1U) << "there is room again";
}

TEST(NewsQueue, ExchangesCountToo) {
  NewsQueue queue;
  std::size_t pushed = 0;
  for (; pushed < NewsQueue::kMost / 257 + 10; ++pushed) queue.push(burst_of(256));
  const auto taken = queue.take();
  EXPECT_EQ(taken.news.size(), NewsQueue::kMost / 257);
  EXPECT_EQ(taken.n_lost, pushed - taken.news.size());
}

}  // namespace
}  // namespace jaxprof::netsampler
