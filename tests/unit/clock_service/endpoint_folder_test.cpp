#include "netsampler/clock/endpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/clock_service/sample_endpoint.h"

namespace jaxprof::netsampler {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class EndpointFolderTest : public testing::Test {
 protected:
  EndpointFolder open() {
    auto folder = EndpointFolder::open(state_);
    EXPECT_TRUE(folder) << folder.error().message;
    return std::move(*folder);
  }
  EndpointFolder publish(const ClockEndpoint& endpoint) {
    EndpointFolder folder = open();
    const Status status = folder.publish(endpoint);
    EXPECT_TRUE(status) << status.error().message;
    return folder;
  }
  std::string path_of(const ClockEndpoint& endpoint) const {
    return run_layout::clock_endpoint_path(state_, endpoint.boot_id, endpoint.network_namespace, endpoint.nonce);
  }
  std::vector<std::string> names() const { return list_directory(run_layout::clock_directory(state_)); }
  static std::vector<std::string> seen_by(EndpointFolder* folder) {
    folder->look();
    std::vector<std::string> found;
    for (const auto& [boot_id, endpoint] : folder->nodes()) found.push_back(boot_id);
    return found;
  }

  test::TempFolder temp_;
  std::string state_ = temp_.path();
};

TEST_F(EndpointFolderTest, IsForItsUserAlone) {
  open();
  EXPECT_EQ(fs::status(run_layout::clock_directory(state_)).permissions(), fs::perms::owner_all);
  open();
}

TEST_F(EndpointFolderTest, OneThatOthersMayWriteToIsRefused) {
  open();
  chmod(run_layout::clock_directory(state_).c_str(), 0770);
  const auto folder = EndpointFolder::open(state_);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kNodeNotReady);
  EXPECT_THAT(folder.error().message, testing::HasSubstr("can be written by others"));
}

TEST_F(EndpointFolderTest, NoFolderIsAnErrorWithItsName) {
  const auto folder = EndpointFolder::open("/proc/none");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, testing::HasSubstr("/proc/none/clock"));
  std::ofstream(run_layout::clock_directory(state_)) << "a file";
  EXPECT_THAT(EndpointFolder::open(state_).error().message, testing::HasSubstr("is not a folder"));
}

TEST_F(EndpointFolderTest, NodesThatPublishedSeeEachOtherAndNotThemselves) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  EXPECT_FALSE(a.look());
  EXPECT_THAT(a.nodes(), IsEmpty());
  EndpointFolder b = publish(test::sample_endpoint("b"));
  EXPECT_THAT(seen_by(&b), ElementsAre("a")) << "the later one sees the earlier at once";
  EXPECT_TRUE(a.look());
  EXPECT_EQ(a.nodes().at("b"), test::sample_endpoint("b"));
  EXPECT_FALSE(a.look()) << "nothing is new";
}

TEST_F(EndpointFolderTest, ANodeThatWithdrawsIsGone) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  EndpointFolder b = publish(test::sample_endpoint("b"));
  EXPECT_THAT(seen_by(&a), ElementsAre("b"));
  b.withdraw();
  EXPECT_TRUE(a.look());
  EXPECT_THAT(a.nodes(), IsEmpty());
  EXPECT_THAT(names(), SizeIs(1));
}

TEST_F(EndpointFolderTest, TheSuccessorOfAKilledObserverTakesItsPlaceAndCleansUpAfterIt) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  publish(test::sample_endpoint("b", 1));  // never withdraws
  EXPECT_THAT(seen_by(&a), ElementsAre("b"));
  const std::string torn = path_of(test::sample_endpoint("b", 2)) + ".tmp.n1.99.0";
  std::ofstream(torn) << "jaxprof-clock-end";
  ClockEndpoint later = test::sample_endpoint("b", 3);
  later.address = *parse_address("10.0.0.9", 5);
  publish(later);
  EXPECT_FALSE(fs::exists(path_of(test::sample_endpoint("b", 1))));
  EXPECT_FALSE(fs::exists(torn));
  EXPECT_TRUE(a.look());
  EXPECT_EQ(a.nodes().at("b"), later);
}

TEST_F(EndpointFolderTest, WhatOthersAreWritingStaysUnlessTheyHaveLongBeenDead) {
  open();
  const std::string writing = path_of(test::sample_endpoint("b")) + ".tmp.n2.99.0";
  const std::string dead = run_layout::clock_reference_path(state_) + ".tmp.n3.99.0";
  std::ofstream(writing) << "jaxprof";
  std::ofstream(dead) << "c";
  fs::last_write_time(dead, fs::last_write_time(dead) - std::chrono::hours(1));
  publish(test::sample_endpoint("a"));
  EXPECT_TRUE(fs::exists(writing));
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(EndpointFolderTest, OfSeveralObserversOnOneNodeTheOneThatBeganLastCounts) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  ClockEndpoint pod = test::sample_endpoint("b", 1);
  pod.network_namespace = 1;
  pod.start_ns = 2000;
  publish(pod);
  ClockEndpoint dead_pod = test::sample_endpoint("b", 2);
  dead_pod.network_namespace = 2;
  dead_pod.start_ns = 1000;
  EndpointFolder other = publish(dead_pod);
  EXPECT_TRUE(a.look());
  EXPECT_EQ(a.nodes().at("b"), pod);
  EXPECT_THAT(seen_by(&other), ElementsAre("a")) << "one node has one clock";
}

TEST_F(EndpointFolderTest, FilesThatAreNoEndpointsAreNoNodes) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  const std::string folder = run_layout::clock_directory(state_) + "/";
  std::ofstream(path_of(test::sample_endpoint("b"))) << "no endpoint";
  std::ofstream(path_of(test::sample_endpoint("c"))) << to_text(test::sample_endpoint("d")) << std::flush;
  std::ofstream(folder + "token") << std::string(32, 'x');
  std::ofstream(folder + "e.1.2.endpoint") << std::string(100'000, 'x');
  fs::create_directory(folder + "f.1.2.endpoint");
  EXPECT_FALSE(a.look());
  EXPECT_THAT(a.nodes(), IsEmpty());
}

TEST_F(EndpointFolderTest, AListingThatLacksTheOwnEndpointChangesNothing) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  EndpointFolder b = publish(test::sample_endpoint("b"));
  EXPECT_THAT(seen_by(&a), ElementsAre("b"));
  fs::remove_all(run_layout::clock_directory(state_));
  EXPECT_FALSE(a.look());
  EXPECT_THAT(a.nodes(), SizeIs(1));
}

TEST_F(EndpointFolderTest, WhatIsOlderThanAnObserverCanBeIsTakenAway) {
  publish(test::sample_endpoint("dead", 1));
  publish(test::sample_endpoint("b"));
  const fs::path dead = path_of(test::sample_endpoint("dead", 1));
  fs::last_write_time(dead, fs::last_write_time(dead) - std::chrono::seconds(100));
  EndpointFolder patient = publish(test::sample_endpoint("a"));
  EXPECT_THAT(seen_by(&patient), ElementsAre("b", "dead")) << "a run may be long";
  auto folder = EndpointFolder::open(state_, std::int64_t{90} * 1'000'000'000);
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->publish(test::sample_endpoint("c")));
  EXPECT_THAT(seen_by(&*folder), ElementsAre("a", "b"));
  EXPECT_TRUE(folder->was_left_dead("dead"));
  EXPECT_FALSE(folder->was_left_dead("b"));
  EXPECT_FALSE(fs::exists(dead));
  publish(test::sample_endpoint("dead", 2));
  EXPECT_THAT(seen_by(&*folder), ElementsAre("a", "b", "dead"));
  EXPECT_FALSE(folder->was_left_dead("dead"));
}

TEST_F(EndpointFolderTest, TheFirstToNameItselfIsTheReference) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  EndpointFolder b = publish(test::sample_endpoint("b"));
  EXPECT_EQ(a.reference(), "");
  EXPECT_TRUE(b.name_reference());
  EXPECT_THAT(seen_by(&a), ElementsAre("b"));
  EXPECT_TRUE(a.name_reference()) << "it is settled, though for another";
  EXPECT_EQ(a.reference(), "b");
  EXPECT_EQ(b.reference(), "b");
  EXPECT_THAT(names(), SizeIs(3)) << "two endpoints, and the reference";
}

TEST_F(EndpointFolderTest, AnObserverThatWasKilledWhileItNamedItselfLeavesNothingForLong) {
  publish(test::sample_endpoint("a", 1));
  const std::string claim = run_layout::clock_claim_path(path_of(test::sample_endpoint("a", 1)));
  std::ofstream(claim).flush();
  std::ofstream(claim + ".tmp.n1.99.0").flush();
  EndpointFolder later = publish(test::sample_endpoint("a", 2));
  EXPECT_THAT(names(), SizeIs(1));
  EXPECT_TRUE(later.name_reference());
  EXPECT_THAT(names(), SizeIs(2));
}

TEST_F(EndpointFolderTest, AReferenceOfAnEarlierRunOfThisNameIsReplaced) {
  std::ofstream((open(), run_layout::clock_reference_path(state_))) << "old\n" << std::flush;
  EndpointFolder a = publish(test::sample_endpoint("a"));
  EndpointFolder b = publish(test::sample_endpoint("b"));
  EXPECT_THAT(seen_by(&a), ElementsAre("b"));
  EXPECT_EQ(a.reference(), "old");
  EXPECT_TRUE(b.name_reference());
  EXPECT_EQ(a.reference(), "b");
  EXPECT_TRUE(a.name_reference());
  EXPECT_EQ(b.reference(), "b") << "which is there";
}

TEST_F(EndpointFolderTest, AReferenceThatIsNoNameIsNone) {
  EndpointFolder a = publish(test::sample_endpoint("a"));
  for (const char* text : {"", "b", "../b\n", "b\nc\n", "\n"}) {
    std::ofstream(run_layout::clock_reference_path(state_)) << text;
    EXPECT_EQ(a.reference(), "") << text;
  }
}

}  // namespace
}  // namespace jaxprof::netsampler
