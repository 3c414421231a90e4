#include "netsampler/clock/clock_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "netsampler/clock/meeting_part.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::netsampler {
namespace {

namespace fs = std::filesystem;
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
  EXPECT_THAT(meet(settings_of("/proc/none", "a"), kLengthNs).reason, HasSubstr("/proc/none"));
}

TEST(Meet, OfSeveralProcessesOfANodeOneTakesItsPart) {
  const test::TempFolder folder;
  std::vector<ClockMeeting> meetings(6);
  std::vector<std::thread> processes;
  for (std::size_t i = 0; i < meetings.size(); ++i) {
    processes.emplace_back(
        [&, i] { meetings[i] = meet(settings_of(folder.path(), i % 2 == 0 ? "a" : "b"), kLengthNs); });
  }
  for (std::thread& process : processes) process.join();
  std::size_t n_met = 0;
  for (const ClockMeeting& meeting : meetings) {
    EXPECT_EQ(meeting.reason, "");
    if (meeting.is_anothers) continue;
    ++n_met;
    EXPECT_EQ(meeting.n_others, 1U);
    ASSERT_EQ(meeting.asked.size(), 1U);
    EXPECT_GT(meeting.asked[0].n_answered, 0U);
  }
  EXPECT_EQ(n_met, 2U);
  EXPECT_THAT(list_directory(folder.path()), IsEmpty());
}

TEST(MeetingPart, IsOfOneProcessANodeAndFolderUntilItEnds) {
  const test::TempFolder folder;
  const test::TempFolder elsewhere;
  {
    const auto a = MeetingPart::take(folder.path(), "a");
    ASSERT_TRUE(a);
    EXPECT_FALSE(a->is_anothers());
    EXPECT_TRUE(MeetingPart::take(folder.path() + "/.", "a")->is_anothers());
    EXPECT_FALSE(MeetingPart::take(folder.path(), "b")->is_anothers());
    EXPECT_FALSE(MeetingPart::take(elsewhere.path(), "a")->is_anothers());
  }
  EXPECT_FALSE(MeetingPart::take(folder.path(), "a")->is_anothers());
}

// What a node leaves that is killed in a meeting.
std::string leave_endpoint(const std::string& directory, const std::string& boot_id) {
  const auto raw = [] { return clock_ns(CLOCK_MONOTONIC_RAW); };
  const auto killed = Probing::open(settings_of(directory, boot_id), raw, [](const ClockNews&) {});
  EXPECT_TRUE(killed);
  const ClockEndpoint& own = (*killed)->own();
  return run_layout::clock_endpoint_path(directory, own.boot_id, own.network_namespace, own.nonce);
}

TEST(Meet, WhatAKilledOneLeftIsNotAskedAndGoes) {
  const test::TempFolder folder;
  const std::string path = leave_endpoint(folder.path(), "dead");
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::minutes(1));
  const ClockMeeting meeting = meet(settings_of(folder.path(), "a"), kLengthNs / 4);
  EXPECT_EQ(meeting.reason, "");
  EXPECT_EQ(meeting.n_others, 0U);
  EXPECT_THAT(meeting.asked, IsEmpty());
  EXPECT_THAT(list_directory(folder.path()), IsEmpty());
}

TEST(Meet, WhatIsFoundToBeAKilledOnesOnlyAtTheEndIsNotToldOf) {
  const test::TempFolder folder;
  const std::string path = leave_endpoint(folder.path(), "dead");
  // Young enough at first: a meeting takes as long, and two seconds.
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::milliseconds(2'500));
  const ClockMeeting meeting = meet(settings_of(folder.path(), "a"), kLengthNs / 2);
  EXPECT_EQ(meeting.n_others, 0U);
  EXPECT_THAT(meeting.asked, IsEmpty());
  EXPECT_THAT(list_directory(folder.path()), IsEmpty());
}

TEST(Meet, WhoeverIsThereAndDoesNotAnswerIsToldOf) {
  const test::TempFolder folder;
  const std::string path = leave_endpoint(folder.path(), "silent");
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::minutes(1));
  const ClockMeeting meeting = meet(settings_of(folder.path(), "a"), kLengthNs / 2);
  EXPECT_EQ(meeting.n_others, 1U);
  ASSERT_EQ(meeting.asked.size(), 1U);
  EXPECT_EQ(meeting.asked[0].host, "host-silent");
  EXPECT_EQ(meeting.asked[0].n_answered, 0U);
}

}  // namespace
}  // namespace jaxprof::netsampler
