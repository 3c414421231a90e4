#include "netsampler/clock/clock_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "agent/base/directory_listing.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::netsampler {
namespace {

using spool::Stamp;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kLengthNs = 2'000'000'000;

ProbingSettings settings_of(const std::string& directory, const std::string& boot_id) {
  return {directory, "meeting", "host-" + boot_id, boot_id, "lo", {}};
}

TEST(RoundTrip, IsByKernelStampsWhereThereAreAll) {
  spool::ProbeExchange exchange;
  EXPECT_EQ(round_trip_ns(exchange), -1);
  exchange.at(Stamp::kClientSendRaw) = 100;
  exchange.at(Stamp::kServerReceiveRaw) = 5000;
  exchange.at(Stamp::kServerSendRaw) = 5020;
  exchange.at(Stamp::kClientReceiveRaw) = 190;
  EXPECT_EQ(round_trip_ns(exchange), 70);
  exchange.at(Stamp::kClientSendWall) = 1110;
  exchange.at(Stamp::kServerReceiveWall) = 9000;
  exchange.at(Stamp::kServerSendWall) = 9030;
  EXPECT_EQ(round_trip_ns(exchange), 70) << "one is missing";
  exchange.at(Stamp::kClientReceiveWall) = 1180;
  EXPECT_EQ(round_trip_ns(exchange), 40);
}

TEST(Meet, NodesThatComeAskEachOtherAndLeaveNothing) {
  const test::TempFolder folder;
  ClockMeeting of_a;
  ClockMeeting of_b;
  std::thread a([&] { of_a = meet(settings_of(folder.path(), "a"), kLengthNs); });
  std::thread b([&] { of_b = meet(settings_of(folder.path(), "b"), kLengthNs); });
  a.join();
  b.join();
  for (const ClockMeeting* meeting : {&of_a, &of_b}) {
    EXPECT_EQ(meeting->reason, "");
    EXPECT_EQ(meeting->n_others, 1U);
    ASSERT_EQ(meeting->asked.size(), 1U);
    EXPECT_GE(meeting->asked[0].n_asked, 4U);
    EXPECT_GT(meeting->asked[0].n_answered, 0U);
    EXPECT_GE(meeting->asked[0].round_trip_ns, 0);
  }
  EXPECT_EQ(of_a.asked[0].host, "host-b");
  EXPECT_EQ(of_a.asked[0].address, "127.0.0.1");
  EXPECT_THAT(list_directory(folder.path()), IsEmpty());
}

TEST(Meet, NobodyElseIsNoFault) {
  const test::TempFolder folder;
  const ClockMeeting meeting = meet(settings_of(folder.path(), "a"), 1000);
  EXPECT_EQ(meeting.reason, "");
  EXPECT_EQ(meeting.n_others, 0U);
  EXPECT_THAT(meeting.asked, IsEmpty());
  EXPECT_THAT(list_directory(folder.path()), IsEmpty());
}

TEST(Meet, AFolderThatIsNotThereIsTheReason) {
  EXPECT_THAT(meet(settings_of("/proc/none", "a"), kLengthNs).reason, HasSubstr("/proc/none/clock"));
}

}  // namespace
}  // namespace jaxprof::netsampler
