#include "netsampler/clock/clock_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "agent/base/clocks.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::netsampler {
namespace {

using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(60);

struct Told {
  std::vector<spool::ClockReading> readings;
  std::vector<ServiceNews> services;
  std::vector<spool::ProbeBurst> bursts;
  std::vector<spool::ClockDisciplineState> disciplines;
  std::vector<spool::ClockPacketsState> packets;
  std::vector<ClockNote> notes;

  void take(ClockService* service) {
    for (const ClockNews& news : service->take().news) {
      keep(news, &readings);
      keep(news, &services);
      keep(news, &bursts);
      keep(news, &disciplines);
      keep(news, &packets);
      keep(news, &notes);
    }
  }

 private:
  template <typename News>
  static void keep(const ClockNews& news, std::vector<News>* kept) {
    if (const auto* found = std::get_if<News>(&news)) kept->push_back(*found);
  }
};

template <typename Condition>
void take_until(ClockService* service, Told* told, Condition holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    told->take(service);
  }
}

ClockSettings settings_of(const std::string& state, const std::string& boot_id) {
  ClockSettings settings;
  settings.probing = ProbingSettings{state, "7.0.0", "host-" + boot_id, boot_id, "lo", {}};
  return settings;
}

TEST(ClockService, WithoutOtherNodesItReadsClocksTenTimesASecond) {
  ClockSettings settings;
  settings.no_probing = "the node is sampled alone";
  ClockService service(settings);
  Told told;
  service.start();
  take_until(&service, &told, [&] { return told.readings.size() >= 5; });
  service.finish();
  told.take(&service);
  for (std::size_t i = 1; i < told.readings.size(); ++i) {
    EXPECT_GT(told.readings[i].raw_ns, told.readings[i - 1].raw_ns);
  }
  EXPECT_GE(told.readings[4].raw_ns - told.readings[1].raw_ns, 200'000'000) << "no more than that";
  ASSERT_EQ(told.services.size(), 1U);
  EXPECT_EQ(told.services[0].port, 0);
  EXPECT_EQ(told.services[0].reason, "the node is sampled alone");
  EXPECT_TRUE(told.notes.empty()) << "which is no trouble";
  EXPECT_TRUE(told.packets.empty());
}

TEST(ClockService, TwoNodesAskEachOtherAndCountTheirPackets) {
  const test::TempFolder folder;
  std::ofstream(folder.file("rank0")).flush();
  ClockSettings first = settings_of(folder.path(), "a");
  first.rank0_mark = folder.file("rank0");
  ClockService a(first);
  ClockService b(settings_of(folder.path(), "b"));
  Told of_a;
  Told of_b;
  a.start();
  b.start();
  take_until(&a, &of_a, [&] { return !of_a.bursts.empty(); });
  take_until(&b, &of_b, [&] { return !of_b.bursts.empty(); });
  a.request_end();
  b.request_end();
  a.finish();
  b.finish();
  of_a.take(&a);
  of_b.take(&b);
  EXPECT_TRUE(of_a.services.back().is_reference);
  EXPECT_FALSE(of_b.services.back().is_reference);
  EXPECT_NE(of_a.services.back().port, 0);
  EXPECT_EQ(of_a.services.back().address, "127.0.0.1");
  EXPECT_EQ(of_a.services.back().interface, "lo");
  for (const Told* told : {&of_a, &of_b}) {
    EXPECT_FALSE(told->bursts.front().exchanges.empty());
    ASSERT_EQ(told->packets.size(), 1U) << "at the end";
    EXPECT_GE(told->packets[0].sent, 64U);
    EXPECT_GE(told->packets[0].received, 64U);
    EXPECT_GT(told->packets[0].cpu_ns, 0U);
    EXPECT_TRUE(told->notes.empty()) << told->notes[0].text;
  }
}

TEST(ClockService, WhatIsInTheWayIsOneNoteAndReadingsGoOn) {
  ClockService service(settings_of("/proc/none", "a"));
  Told told;
  service.start();
  take_until(&service, &told, [&] { return told.readings.size() >= 4; });
  service.finish();
  told.take(&service);
  ASSERT_EQ(told.notes.size(), 1U);
  EXPECT_THAT(told.notes[0].text, HasSubstr("/proc/none/clock"));
  EXPECT_THAT(told.services.at(0).reason, HasSubstr("/proc/none/clock"));
}

TEST(ClockService, PortsThatBecomeFreeLaterAreTakenThen) {
  const test::TempFolder folder;
  const auto raw_ns = [] { return clock_ns(CLOCK_MONOTONIC_RAW); };
  auto other_job = StampedSocket::open(*parse_address("127.0.0.1", 0), false, raw_ns);
  ASSERT_TRUE(other_job && *other_job);
  const std::uint16_t port = (*other_job)->port();
  std::ofstream(folder.file("rank0")).flush();
  ClockSettings settings = settings_of(folder.path(), "a");
  settings.probing->ports = {port, port};
  settings.rank0_mark = folder.file("rank0");
  settings.retry_ns = 50'000'000;
  ClockService service(settings);
  Told told;
  service.start();
  take_until(&service, &told, [&] { return told.readings.size() >= 5; });
  EXPECT_THAT(told.services.back().reason, HasSubstr("UDP port " + std::to_string(port) + " is taken"));
  EXPECT_EQ(told.notes.size(), 1U) << "however often it was tried";
  other_job->reset();
  take_until(&service, &told, [&] { return told.services.back().port == port; });
  take_until(&service, &told, [&] { return told.services.back().is_reference; });
  service.finish();
  told.take(&service);
  EXPECT_EQ(told.services.back().reason, "");
  ASSERT_EQ(told.notes.size(), 2U);
  EXPECT_THAT(told.notes[1].text, HasSubstr("from now on"));
}

TEST(ClockService, AnInterfaceThatIsNotNcclsIsTold) {
  const test::TempFolder folder;
  setenv("NCCL_SOCKET_IFNAME", "no-such0", 1);
  ClockSettings settings = settings_of(folder.path(), "a");
  settings.probing->interface.clear();
  ClockService service(settings);
  Told told;
  service.start();
  take_until(&service, &told, [&] { return told.readings.size() >= 3; });
  service.finish();
  told.take(&service);
  unsetenv("NCCL_SOCKET_IFNAME");
  // Where this machine has no network there is nothing to take in its place.
  const std::string expected =
      told.services.back().port > 0 ? "NCCL_SOCKET_IFNAME=no-such0 names no interface" : "loopback";
  ASSERT_EQ(told.notes.size(), 1U);
  EXPECT_THAT(told.notes[0].text, HasSubstr(expected));
}

TEST(ClockService, ANodeThatDoesNotAnswerIsNamedAtTheEnd) {
  const test::TempFolder folder;
  {
    auto dead = Probing::open(
        *settings_of(folder.path(), "dead").probing, [] { return clock_ns(CLOCK_MONOTONIC_RAW); },
        [](const ClockNews&) {});
    ASSERT_TRUE(dead) << dead.error().message;
  }
  ClockService service(settings_of(folder.path(), "a"));
  Told told;
  service.start();
  take_until(&service, &told, [&] { return !told.bursts.empty(); });
  service.finish();
  told.take(&service);
  EXPECT_TRUE(told.bursts.front().exchanges.empty());
  ASSERT_EQ(told.notes.size(), 1U);
  EXPECT_THAT(told.notes[0].text, HasSubstr("no answer from 1 of 1 nodes asked: host-dead (127.0.0.1)"));
  EXPECT_THAT(told.services.back().reason, HasSubstr("host-dead"));
}

TEST(ClockService, AMarkOfRank0ThatComesLaterIsSeen) {
  const test::TempFolder folder;
  ClockSettings settings;
  settings.rank0_mark = folder.file("rank0");
  ClockService service(settings);
  Told told;
  service.start();
  take_until(&service, &told, [&] { return told.readings.size() >= 2; });
  std::ofstream(settings.rank0_mark).flush();
  take_until(&service, &told, [&] { return told.services.size() >= 2; });
  service.finish();
  EXPECT_FALSE(told.services[0].is_reference);
  EXPECT_TRUE(told.services[1].is_reference);
}

TEST(ClockService, HasTheTestsRawClock) {
  ClockSettings settings;
  settings.raw_ns = [] { return clock_ns(CLOCK_MONOTONIC_RAW) + 1'000'000'000'000'000; };
  ClockService service(settings);
  Told told;
  service.start();
  take_until(&service, &told, [&] { return !told.readings.empty(); });
  service.finish();
  EXPECT_GT(told.readings[0].raw_ns, 1'000'000'000'000'000);
}

TEST(ClockService, MayEndBeforeItHasBegunAndTwice) {
  ClockService never({});
  never.finish();
  ClockService at_once({});
  at_once.start();
  at_once.finish();
  at_once.finish();
  EXPECT_GE(at_once.take().news.size(), 2U);
}

}  // namespace
}  // namespace jaxprof::netsampler
