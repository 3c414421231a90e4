#include "merge/clock/exchange_times.h"

#include <gtest/gtest.h>

namespace jaxprof::clock {
namespace {

using spool::ProbeExchange;
using spool::Stamp;

constexpr std::int64_t kEpoch = 1'790'000'000'000'000'000;

// CLOCK_REALTIME is CLOCK_MONOTONIC_RAW and kEpoch on both nodes; the server is 1,000 ns ahead.
class ExchangeTimesTest : public testing::Test {
 protected:
  ExchangeTimesTest() {
    std::vector<spool::ClockReading> readings;
    for (std::int64_t raw_ns = 0; raw_ns < 2'000'000'000; raw_ns += 100'000'000) {
      readings.push_back({raw_ns, raw_ns + kEpoch, 0, 10});
    }
    scale_ = WallScale::fit(readings);
    ends_ = {.client = &scale_, .server = &scale_};
  }
  static ProbeExchange exchange() {
    ProbeExchange made;
    made.at(Stamp::kClientSendRaw) = 1'000'000;
    made.at(Stamp::kClientSendWall) = kEpoch + 1'002'000;
    made.at(Stamp::kServerReceiveWall) = kEpoch + 1'033'000;  // 30 µs later
    made.at(Stamp::kServerReceiveRaw) = 1'043'000;
    made.at(Stamp::kServerSendRaw) = 1'050'000;
    made.at(Stamp::kServerSendWall) = kEpoch + 1'053'000;
    made.at(Stamp::kClientReceiveWall) = kEpoch + 1'092'000;  // 40 µs later
    made.at(Stamp::kClientReceiveRaw) = 1'099'000;
    return made;
  }
  WallScale scale_;
  ExchangeEnds ends_;
};

TEST_F(ExchangeTimesTest, TakesTheKernelsStampsWithWhatTheyMayBeWrongBy) {
  const auto times = exchange_times(exchange(), &ends_);
  ASSERT_TRUE(times.has_value());
  EXPECT_TRUE(times->is_kernel);
  EXPECT_EQ(times->from_a.a_ns, 1'002'000);
  EXPECT_EQ(times->from_a.b_ns, 1'033'000);
  EXPECT_EQ(times->from_b.b_ns, 1'053'000);
  EXPECT_EQ(times->from_b.a_ns, 1'092'000);
  EXPECT_EQ(times->round_trip_ns, 70'000);
  EXPECT_GT(times->from_a.error_ns, 0);
  EXPECT_LT(times->from_a.error_ns, 100);
}

TEST_F(ExchangeTimesTest, FromTheServersSideTheMessagesSwap) {
  ends_.is_client_a = false;
  const auto times = exchange_times(exchange(), &ends_);
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->from_a.a_ns, 1'053'000);
  EXPECT_EQ(times->from_a.b_ns, 1'092'000);
  EXPECT_EQ(times->from_b.a_ns, 1'033'000);
  EXPECT_EQ(times->from_b.b_ns, 1'002'000);
}

TEST_F(ExchangeTimesTest, TakesTheProgramsStampWhereTheKernelsIsMissing) {
  ProbeExchange made = exchange();
  made.at(Stamp::kClientSendWall) = spool::kNoStamp;
  const auto times = exchange_times(made, &ends_);
  ASSERT_TRUE(times.has_value());
  EXPECT_FALSE(times->is_kernel);
  EXPECT_EQ(times->from_a.a_ns, 1'000'000);
  EXPECT_EQ(times->from_a.b_ns, 1'033'000);
}

TEST_F(ExchangeTimesTest, AStampOfAnotherPacketIsNotTheKernels) {
  ProbeExchange made = exchange();
  made.at(Stamp::kClientSendWall) = kEpoch + 900'000;  // before the program sent it
  EXPECT_FALSE(exchange_times(made, &ends_)->is_kernel);
  made = exchange();
  made.at(Stamp::kServerReceiveWall) = kEpoch + 1'050'000;  // after the program had it
  EXPECT_FALSE(exchange_times(made, &ends_)->is_kernel);
}

TEST_F(ExchangeTimesTest, RejectsWhatCannotBe) {
  ProbeExchange made = exchange();
  made.at(Stamp::kServerSendRaw) = spool::kNoStamp;
  EXPECT_FALSE(exchange_times(made, &ends_).has_value());
  made = exchange();
  made.at(Stamp::kServerSendRaw) = INT64_MAX;
  EXPECT_FALSE(exchange_times(made, &ends_).has_value());
  made = {};
  made.at(Stamp::kClientSendRaw) = 1'000'000;
  made.at(Stamp::kServerReceiveRaw) = 1'000'000;
  made.at(Stamp::kServerSendRaw) = 1'100'000;  // the server took longer than the client waited
  made.at(Stamp::kClientReceiveRaw) = 1'099'000;
  EXPECT_FALSE(exchange_times(made, &ends_).has_value());
  made.at(Stamp::kClientReceiveRaw) = 1'100'001;
  EXPECT_TRUE(exchange_times(made, &ends_).has_value());
  made.at(Stamp::kClientReceiveRaw) = 1'001'100'001;  // a second and a nanosecond
  EXPECT_FALSE(exchange_times(made, &ends_).has_value());
  made.at(Stamp::kServerSendRaw) = 999'999;  // answered before it came
  made.at(Stamp::kClientReceiveRaw) = 1'050'000;
  EXPECT_FALSE(exchange_times(made, &ends_).has_value());
}

}  // namespace
}  // namespace jaxprof::clock
