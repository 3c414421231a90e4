#include "agent/collect/state_log.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "agent/spool/spool_reader.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::collect {
namespace {

class StateLogTest : public testing::Test {
 protected:
  void open(std::uint64_t cap_bytes) {
    ASSERT_TRUE(memory_.create(folder_.file("rings").c_str(), 1));
    ASSERT_TRUE(log_.open(&memory_, cap_bytes));
  }
  spool::StringId intern(const std::string& text) { return log_.intern(text.data(), text.size()); }
  // Everything in the log, as the drain thread would write it.
  std::size_t count_records(spool::StateKind wanted) const {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < log_.segment_count(); ++i) {
      spool::StateLogHeader* header = log_.segment(i);
      spool::StateDecoder decoder({spool::segment_data(header), header->committed.load()});
      spool::StateKind kind{};
      std::span<const std::uint8_t> record;
      while (decoder.next(&kind, &record)) count += kind == wanted ? 1 : 0;
      EXPECT_FALSE(decoder.is_damaged());
    }
    return count;
  }

  test::TempFolder folder_;
  spool::MemoryFile memory_;
  StateLog log_;
};

TEST_F(StateLogTest, GivesOneNumberToOneText) {
  open(8 << 20);
  EXPECT_EQ(intern("a"), 1u);
  EXPECT_EQ(intern("b"), 2u);
  EXPECT_EQ(intern("a"), 1u);
  EXPECT_EQ(intern(""), 3u);
  EXPECT_EQ(log_.intern("abc", 1), 1u);
  EXPECT_EQ(intern(std::string("a\0b", 3)), 4u);
  EXPECT_EQ(count_records(spool::StateKind::kString), 4u);
}

TEST_F(StateLogTest, GrowsBySegmentsAndKeepsRecordsWhole) {
  open(8 << 20);
  for (int i = 0; i < 3000; ++i) ASSERT_NE(intern(std::to_string(i) + std::string(777, 'x')), spool::kLostString);
  EXPECT_EQ(log_.segment_count(), 3u);
  EXPECT_EQ(count_records(spool::StateKind::kString), 3000u);
}

TEST_F(StateLogTest, StopsAtItsCap) {
  open(StateLog::kSegmentBytes);
  int kept = 0;
  while (intern(std::to_string(kept) + std::string(1000, 'x')) != spool::kLostString) ++kept;
  EXPECT_GT(kept, 900);
  EXPECT_EQ(log_.segment_count(), 1u);
  EXPECT_EQ(intern("0" + std::string(1000, 'x')), 1u) << "what is known stays known";
  spool::DomainState domain{};
  const std::string tail(2000, 't');
  EXPECT_FALSE(log_.append(spool::StateKind::kDomain, &domain, sizeof domain, tail.data(), tail.size()));
}

TEST_F(StateLogTest, RefusesARecordLongerThanASegment) {
  open(64 << 20);
  const std::string tail(StateLog::kSegmentBytes, 't');
  spool::DomainState domain{};
  EXPECT_FALSE(log_.append(spool::StateKind::kDomain, &domain, sizeof domain, tail.data(), tail.size()));
  EXPECT_EQ(intern("goes on"), 1u);
}

TEST_F(StateLogTest, PadsRecordsToEightBytes) {
  open(8 << 20);
  for (std::size_t length = 0; length < 20; ++length) {
    spool::DomainState domain{};
    const std::string tail(length, '\xff');
    ASSERT_TRUE(log_.append(spool::StateKind::kDomain, &domain, sizeof domain, tail.data(), length));
    EXPECT_EQ(domain.header.bytes % 8, 0u);
  }
  EXPECT_EQ(count_records(spool::StateKind::kDomain), 20u);
}

TEST(StateLog, IsEmptyHandedBeforeItIsOpen) {
  StateLog log;
  EXPECT_EQ(log.intern("a", 1), spool::kLostString);
  spool::DomainState domain{};
  EXPECT_FALSE(log.append(spool::StateKind::kDomain, &domain, sizeof domain, nullptr, 0));
}

TEST(BoundedLock, GivesUpInsteadOfWaitingForEver) {
  BoundedLock lock;
  ASSERT_TRUE(lock.lock());
  EXPECT_FALSE(lock.lock());
  lock.unlock();
  EXPECT_TRUE(lock.lock());
}

}  // namespace
}  // namespace jaxprof::collect
