#include "launcher/publishing_channel.h"

#include <gtest/gtest.h>

#include <utility>

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kLongNs = 10'000'000'000;
using Kind = PublishingReplies::Kind;

class PublishingChannel : public testing::Test {
 protected:
  std::pair<UniqueFd, UniqueFd> sockets_ = make_publishing_sockets();
  PublishingReplies wrapper_{std::move(sockets_.first)};
  std::optional<PublishingRequests> process_{std::in_place, std::move(sockets_.second)};
};

TEST_F(PublishingChannel, CarriesTheJobsEnd) {
  process_->look();
  EXPECT_FALSE(process_->ended_job());
  wrapper_.send_ended_job({{-1, 9, 0}, 4711});
  process_->wait(kLongNs);
  ASSERT_TRUE(process_->ended_job());
  EXPECT_EQ(process_->ended_job()->status.signal, 9);
  EXPECT_EQ(process_->ended_job()->pid, 4711);
  EXPECT_FALSE(process_->is_hurried());
}

TEST_F(PublishingChannel, HurryAndEndAreTakenTogether) {
  wrapper_.send_hurry();
  wrapper_.send_ended_job({{7, 0, 0}, 4711});
  process_->look();
  EXPECT_TRUE(process_->is_hurried());
  EXPECT_EQ(process_->ended_job()->status.exit_code, 7);
}

TEST_F(PublishingChannel, BringsLinesBackInOrder) {
  process_->send_line("first");
  process_->send_line("");
  process_->send_done();
  EXPECT_EQ(wrapper_.wait(kLongNs).line, "first");
  const PublishingReplies::Reply empty = wrapper_.wait(kLongNs);
  EXPECT_EQ(empty.kind, Kind::kLine);
  EXPECT_EQ(empty.line, "");
  EXPECT_EQ(wrapper_.wait(kLongNs).kind, Kind::kDone);
  EXPECT_EQ(wrapper_.wait(0).kind, Kind::kNothing);
}

TEST_F(PublishingChannel, AProcessThatIsGoneIsSeenAfterItsLastWord) {
  process_->send_line("a last word");
  process_.reset();
  EXPECT_EQ(wrapper_.wait(kLongNs).line, "a last word");
  EXPECT_EQ(wrapper_.wait(kLongNs).kind, Kind::kGone);
}

TEST_F(PublishingChannel, ALineThatIsTooLongIsCut) {
  process_->send_line(std::string(100'000, 'x'));
  const std::string line = wrapper_.wait(kLongNs).line;
  EXPECT_GT(line.size(), 1000u);
  EXPECT_LT(line.size(), 100'000u);
}

TEST_F(PublishingChannel, NobodyWaitsForOneWhoDoesNotRead) {
  for (int i = 0; i < 100'000; ++i) process_->send_line("nobody reads this");
  for (int i = 0; i < 100'000; ++i) wrapper_.send_hurry();
  process_->look();
  EXPECT_TRUE(process_->is_hurried());
}

}  // namespace
}  // namespace jaxprof::launcher
