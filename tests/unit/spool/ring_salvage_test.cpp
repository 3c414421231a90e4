#include "agent/spool/ring_salvage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/unique_fd.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/spool_reader.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/recording.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::spool {
namespace {

constexpr std::uint64_t kCapacity = 1 << 16;

// What a spool holds, block by block.
struct Content {
  std::vector<std::uint64_t> stamps;  // of all events, in file order
  std::vector<std::string> strings;
  std::size_t anchors = 0;
  Footer footer;
  SpoolHealth health;
};

Content read(const std::string& path) {
  Content content;
  auto reader = SpoolReader::open(path);
  EXPECT_TRUE(reader);
  if (!reader) return content;
  Block block;
  while (reader->next(&block)) {
    if (block.kind == BlockKind::kAnchors) content.anchors += parse_anchors(block.payload).size();
    if (block.kind == BlockKind::kFooter) parse_footer(block.payload, &content.footer);
    if (block.kind == BlockKind::kEvents) {
      EventDecoder decoder(block.payload.data(), block.payload.size());
      for (Event event; decoder.next(&event);) content.stamps.push_back(event.stamp);
      EXPECT_FALSE(decoder.is_damaged());
    }
    if (block.kind == BlockKind::kState) {
      StateDecoder decoder(block.payload);
      StateKind kind{};
      std::span<const std::uint8_t> record;
      while (decoder.next(&kind, &record)) {
        StringState string{};
        std::span<const std::uint8_t> tail;
        if (kind == StateKind::kString && read_state(record, &string, &tail)) {
          content.strings.emplace_back(tail.begin(), tail.begin() + string.length);
        }
      }
    }
  }
  content.health = reader->health();
  return content;
}

// A process that died: a spool without footer, and a memory file with more.
class RingSalvage : public testing::Test {
 protected:
  void SetUp() override {
    spool_ = recording_.write(folder_.path(), "slot0.jxspool", false);
    memory_path_ = folder_.file("slot0.rings");
    ASSERT_TRUE(memory_.create(memory_path_.c_str(), 4711));
    log_ = static_cast<StateLogHeader*>(memory_.add_segment(SegmentKind::kStateLog, 1 << 16));
    ring_ = static_cast<RingHeader*>(memory_.add_segment(SegmentKind::kRing, sizeof(RingHeader) + kCapacity));
    ASSERT_NE(log_, nullptr);
    ASSERT_NE(ring_, nullptr);
    ring_->capacity = kCapacity;
    ring_->thread.store(3);
  }

  void register_string(StringId id, const std::string& text) {
    StringState state{};
    const std::uint64_t bytes = (sizeof state + text.size() + 7) / 8 * 8;
    state.header = {static_cast<std::uint16_t>(StateKind::kString), 0, static_cast<std::uint32_t>(bytes)};
    state.id = id;
    state.length = static_cast<std::uint32_t>(text.size());
    std::uint8_t* to = segment_data(log_) + log_->committed.load();
    std::memcpy(to, &state, sizeof state);
    std::memcpy(to + sizeof state, text.data(), text.size());
    log_->committed.fetch_add(bytes);
  }

  // A mark of three words at `stamp`, as a thread would write it; the region may wrap.
  void write_event(std::uint64_t stamp) {
    constexpr std::uint64_t kBytes = sizeof(EventHeader) + 8;
    std::uint64_t head = ring_->head.load();
    const std::uint64_t region = head < ring_->grown_at.load() ? ring_->small_capacity : kCapacity;
    const std::uint64_t to_end = region - head % region;
    if (to_end < kBytes) {
      const std::uint64_t padding = to_end;  // kind kPadding is 0
      std::memcpy(segment_data(ring_) + ring_offset(ring_, head), &padding, sizeof padding);
      head += to_end;
    }
    const EventHeader header{kBytes, static_cast<std::uint8_t>(EventKind::kNvtxMark), 1, 1, stamp};
    const std::uint64_t field = 0;
    std::memcpy(segment_data(ring_) + ring_offset(ring_, head), &header, sizeof header);
    std::memcpy(segment_data(ring_) + ring_offset(ring_, head) + sizeof header, &field, sizeof field);
    ring_->head.store(head + kBytes);
  }

  Result<Salvage> salvage() { return salvage_rings(memory_path_, spool_, counters_, 5); }

  test::TempFolder folder_;
  test::Recording recording_;
  std::string spool_;
  std::string memory_path_;
  MemoryFile memory_;
  StateLogHeader* log_ = nullptr;
  RingHeader* ring_ = nullptr;
  std::vector<CounterRecord> counters_;
};

TEST_F(RingSalvage, AppendsWhatTheSpoolLacksAndAFooter) {
  register_string(1, "written before");
  log_->written.store(log_->committed.load());
  register_string(2, "not yet written");
  for (std::uint64_t i = 0; i < 100; ++i) write_event(1000 + i);
  ring_->tail.store(10 * 24);  // ten are in the spool
  counters_.push_back({2, 0, 7});
  const std::size_t anchors_before = read(spool_).anchors;
  const auto saved = salvage();
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(saved->events, 90u);
  EXPECT_EQ(saved->damaged_rings, 0u);
  const Content content = read(spool_);
  EXPECT_EQ(content.strings, std::vector<std::string>{"not yet written"});
  ASSERT_EQ(content.stamps.size(), 90u);
  EXPECT_EQ(content.stamps.front(), 1010u);
  EXPECT_EQ(content.stamps.back(), 1099u);
  EXPECT_EQ(content.anchors, anchors_before + 1);
  EXPECT_EQ(content.footer.record.reason, static_cast<std::uint32_t>(FooterReason::kSaved));
  EXPECT_EQ(content.footer.record.events, 95u);
  ASSERT_EQ(content.footer.counters.size(), 1u);
  EXPECT_EQ(content.footer.counters[0].count, 7u);
  EXPECT_EQ(content.health.lost_blocks, 0u);
}

TEST_F(RingSalvage, SaysThatTheProcessHadLostEvents) {
  write_event(1);
  ASSERT_TRUE(salvage_rings(memory_path_, spool_, {}, 0, std::nullopt, FooterReason::kWriteFailed));
  EXPECT_EQ(read(spool_).footer.record.reason, static_cast<std::uint32_t>(FooterReason::kWriteFailed));
}

TEST_F(RingSalvage, FollowsTheRingAroundItsEnd) {
  const std::uint64_t most = kCapacity / 24 - 2;
  for (std::uint64_t i = 0; i < most; ++i) write_event(i);
  ring_->tail.store(ring_->head.load());
  for (std::uint64_t i = 0; i < most; ++i) write_event(5000 + i);
  const auto saved = salvage();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->events, most);
  const Content content = read(spool_);
  EXPECT_EQ(content.stamps.front(), 5000u);
  EXPECT_TRUE(std::is_sorted(content.stamps.begin(), content.stamps.end()));
}

TEST_F(RingSalvage, FollowsTheRingIntoItsLargeRegion) {
  constexpr std::uint64_t kSmall = 8192;
  ring_ = static_cast<RingHeader*>(memory_.add_segment(SegmentKind::kRing, ring_segment_bytes(kSmall, kCapacity)));
  ASSERT_NE(ring_, nullptr);
  ring_->capacity = kCapacity;
  ring_->small_capacity = kSmall;
  ring_->grown_at.store(kNotGrown);
  // Once around the small region and a little more, of which a part is in the spool.
  for (std::uint64_t i = 0; i < 400; ++i) {
    if (i == 300) ring_->tail.store(ring_->head.load());
    write_event(i);
  }
  ring_->grown_at.store(ring_->head.load());
  for (std::uint64_t i = 400; i < 2400; ++i) write_event(i);
  const auto saved = salvage();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->damaged_rings, 0u);
  const Content content = read(spool_);
  ASSERT_EQ(content.stamps.size(), 2100u);
  for (std::uint64_t i = 0; i < 2100; ++i) ASSERT_EQ(content.stamps[i], 300 + i);
}

TEST_F(RingSalvage, RegionsThatNoRingHasAreDamage) {
  write_event(1);
  const auto save = [this](std::uint64_t small, std::uint64_t grown_at) {
    ring_->small_capacity = small;
    ring_->grown_at.store(grown_at);
    const std::string copy = folder_.file("copy.jxspool");
    std::filesystem::copy_file(spool_, copy, std::filesystem::copy_options::overwrite_existing);
    const auto saved = salvage_rings(memory_path_, copy, counters_, 5);
    return saved ? saved->damaged_rings : 0;
  };
  EXPECT_EQ(save(24, kNotGrown), 1u);
  EXPECT_EQ(save(0, kNotGrown), 1u);
  EXPECT_EQ(save(1U << 20, kNotGrown), 1u) << "beyond the segment";
  EXPECT_EQ(save(0, 0), 0u);
}

TEST_F(RingSalvage, CutsATornTailBeforeItAppends) {
  write_event(1);
  UniqueFd fd(open(spool_.c_str(), O_WRONLY | O_APPEND));
  ASSERT_EQ(::write(fd.get(), "JBLKtorn", 8), 8);
  ASSERT_TRUE(salvage());
  const Content content = read(spool_);
  EXPECT_EQ(content.health.skipped_bytes, 0u);
  EXPECT_EQ(content.health.torn_tail_bytes, 0u);
  EXPECT_TRUE(content.health.has_footer);
}

TEST_F(RingSalvage, AnAttemptThatWasCutShortIsBegunAgain) {
  for (std::uint64_t i = 0; i < 100; ++i) write_event(i);
  const std::string before = *read_small_file(spool_);
  ASSERT_TRUE(salvage());
  const std::string whole = *read_small_file(spool_);
  // Killed before the footer, and before the note was gone.
  std::filesystem::resize_file(spool_, whole.size() - 60);
  std::ofstream(spool_ + ".saving") << before.size();
  const auto again = salvage();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->events, 100u);
  EXPECT_EQ(read(spool_).stamps.size(), 100u);
  EXPECT_FALSE(std::filesystem::exists(spool_ + ".saving"));
}

TEST_F(RingSalvage, LongAfterTheEndItTakesNoAnchorOfToday) {
  write_event(1);
  const std::size_t anchors_before = read(spool_).anchors;
  ASSERT_TRUE(salvage_rings(memory_path_, spool_, {}, 0, 1'700'000'000'000'000'000));
  const Content content = read(spool_);
  EXPECT_EQ(content.anchors, anchors_before);
  EXPECT_EQ(content.footer.record.realtime_ns, 1'700'000'000'000'000'000u);
}

TEST_F(RingSalvage, LeavesACompleteSpoolAlone) {
  spool_ = recording_.write(folder_.path(), "complete.jxspool", true);
  write_event(1);
  const std::string before = *read_small_file(spool_);
  const auto saved = salvage();
  ASSERT_TRUE(saved);
  EXPECT_TRUE(saved->was_complete);
  EXPECT_EQ(*read_small_file(spool_), before);
}

TEST_F(RingSalvage, DoingItTwiceAddsNothing) {
  write_event(1);
  ASSERT_TRUE(salvage());
  const std::string once = *read_small_file(spool_);
  const auto again = salvage();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_complete);
  EXPECT_EQ(*read_small_file(spool_), once);
}

TEST_F(RingSalvage, SaysWhatIsWrongWithTheFiles) {
  const auto missing = salvage_rings(folder_.file("nothing"), spool_, {}, 0);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("nothing"), std::string::npos);
  test::write_file(folder_.file("short"), "JXRINGS");
  EXPECT_FALSE(salvage_rings(folder_.file("short"), spool_, {}, 0));
  EXPECT_FALSE(salvage_rings(memory_path_, folder_.file("nospool"), {}, 0));
}

TEST_F(RingSalvage, ARecordThatClaimsMoreFieldsThanItHasEndsItsRing) {
  write_event(1);
  write_event(2);
  auto* second = reinterpret_cast<EventHeader*>(segment_data(ring_) + 24);
  second->field_count = 16;  // 128 bytes beyond the record, maybe beyond the mapping
  const auto saved = salvage();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->events, 1u);
  EXPECT_EQ(saved->damaged_rings, 1u);
}

TEST_F(RingSalvage, ALogThatHasWrittenMoreThanItEverHeldIsTakenAsWritten) {
  register_string(1, "some string");
  log_->written.store(UINT64_MAX - 4);
  const auto saved = salvage();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->state_bytes, 0u);
}

// A process can die while it writes any word of its memory file, and a disk can hand back anything.
TEST_F(RingSalvage, NeverTrustsTheMemoryFile) {
  register_string(1, "some string");
  for (std::uint64_t i = 0; i < 500; ++i) write_event(i);
  const std::string memory = *read_small_file(memory_path_, 16 << 20);
  const std::string spool = *read_small_file(spool_);
  std::mt19937_64 random{7};
  const std::string damaged_path = folder_.file("damaged.rings");
  for (int round = 0; round < 300; ++round) {
    std::string damaged = memory;
    for (int flips = 0; flips < 8; ++flips) {
      // Mostly where it hurts: the header, the segments' headers and the first records.
      const std::size_t spot = random() % 4 == 0 ? random() % damaged.size() : random() % 4096 * (random() % 40);
      if (spot + 8 > damaged.size()) continue;
      const std::uint64_t word = random() % 2 == 0 ? random() : random() % 64;
      std::memcpy(damaged.data() + spot / 8 * 8, &word, sizeof word);
    }
    test::write_file(damaged_path, damaged);
    test::write_file(spool_, spool);
    if (const auto saved = salvage_rings(damaged_path, spool_, {}, 0)) {
      const Content content = read(spool_);
      EXPECT_TRUE(content.health.has_footer);
      EXPECT_EQ(content.health.skipped_bytes, 0u);
      EXPECT_EQ(content.stamps.size(), saved->events);
    }
  }
}

}  // namespace
}  // namespace jaxprof::spool
