// Buffers whose records are not as long as CUPTI said when it was asked. A library of the test's own walks them.
#include "agent/cupti/block_filler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/unit/cupti/record_buffer.h"
#include "tests/unit/cupti/sink_double.h"

namespace jaxprof::cupti {
namespace {

using test::make_call;

// What the library says that a record takes, of whatever kind.
std::size_t record_bytes = 0;
int walks = 0;

abi::Result walk(std::uint8_t* buffer, std::size_t bytes, void** record) {
  ++walks;
  auto* next = *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + record_bytes;
  if (next + record_bytes > buffer + bytes) return abi::kMaxLimitReached;
  *record = next;
  return abi::kSuccess;
}
abi::Result no_name(abi::Domain, std::uint32_t, const char**) {
  return abi::kNotSupported;
}

class BlockFillerTest : public testing::Test {
 protected:
  BlockFillerTest() {
    library_.functions.get_next_record = walk;
    walker_.use(library_);
    pool_.open(0, true);
    encoder_->open(no_name, &spans_);
    filler_.open(&pool_, &strides_, encoder_.get(), &walker_);
    record_bytes = sizeof(CUpti_ActivityAPI);
    strides_.probe(&walker_);
    walks = 0;
  }

  // A buffer of calls at 1000, 1001, ..., each `distance` behind the other.
  void give(std::uint64_t count, std::size_t distance) {
    std::size_t bytes = 0;
    std::uint8_t* buffer = pool_.take(&bytes);
    for (std::uint64_t i = 0; i < count; ++i) {
      const CUpti_ActivityAPI call =
          make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1000 + i, 1);
      std::memcpy(buffer + i * distance, &call, sizeof call);
    }
    pool_.give(buffer, count * distance);
  }
  std::uint64_t read() {
    std::uint64_t count = 0;
    filler_.fill(block_.data(), block_.size(), &count);
    return count;
  }

  test::SinkDouble sink_;
  Library library_;
  Subscriber walker_;
  Strides strides_;
  BufferPool pool_;
  KeptSpans spans_;
  std::unique_ptr<ActivityEncoder> encoder_ = std::make_unique<ActivityEncoder>();
  BlockFiller filler_;
  std::vector<std::uint8_t> block_ = std::vector<std::uint8_t>(256 << 10);
};

TEST_F(BlockFillerTest, WalksByTheLengthsAndHasCuptiCheckOnlyTheStart) {
  give(1000, sizeof(CUpti_ActivityAPI));
  EXPECT_EQ(read(), 1000U);
  EXPECT_FALSE(filler_.distrusts_lengths());
  EXPECT_LT(walks, 10);
}

TEST_F(BlockFillerTest, HasCuptiWalkAllFromTheFirstLengthOnThatIsNotRight) {
  record_bytes = sizeof(CUpti_ActivityAPI) + 16;
  give(1000, record_bytes);
  EXPECT_EQ(read(), 1000U);
  EXPECT_TRUE(filler_.distrusts_lengths());
  give(10, record_bytes);
  EXPECT_EQ(read(), 10U);
  EXPECT_EQ(sink_.drops(Drop::kGpuUnknownKind), 0U);
}

TEST_F(BlockFillerTest, GoesOnWithCuptiWhereALengthIsNotKnownAndClearsAllTheSame) {
  std::size_t bytes = 0;
  std::uint8_t* buffer = pool_.take(&bytes);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto call = make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1000 + i, 1);
    if (i == 500) call.kind = static_cast<CUpti_ActivityKind>(Strides::kKinds);
    std::memcpy(buffer + i * record_bytes, &call, sizeof call);
  }
  pool_.give(buffer, 1000 * record_bytes);
  EXPECT_EQ(read(), 999U);
  EXPECT_EQ(sink_.drops(Drop::kGpuUnknownKind), 1U);
  EXPECT_GT(walks, 499);
  EXPECT_LT(walks, 520);
  EXPECT_EQ(std::count(buffer, buffer + BufferPool::kBufferBytes, 0), std::ptrdiff_t{BufferPool::kBufferBytes});
}

TEST_F(BlockFillerTest, ReadsTheWholeRecordsOfABufferThatEndsInOne) {
  for (const std::size_t rest : {std::size_t{2}, record_bytes - 1}) {
    std::size_t bytes = 0;
    std::uint8_t* buffer = pool_.take(&bytes);
    const CUpti_ActivityAPI call =
        make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1000, 1);
    for (std::uint64_t i = 0; i < 101; ++i) std::memcpy(buffer + i * record_bytes, &call, sizeof call);
    pool_.give(buffer, 100 * record_bytes + rest);
    EXPECT_EQ(read(), 100U);
  }
}

TEST_F(BlockFillerTest, GoesOnInTheMiddleOfABufferWhenABlockWasFull) {
  give(1000, record_bytes);
  block_.resize(2 * spool::EventEncoder::kMaxEncodedBytes);
  std::uint64_t events = 0;
  int blocks = 0;
  for (std::uint64_t count = 0; (count = read()) > 0; ++blocks) events += count;
  EXPECT_EQ(events, 1000U);
  EXPECT_GT(blocks, 1);
}

TEST_F(BlockFillerTest, KnowsCallsOfTheWindowWhereverTheyLie) {
  record_bytes = sizeof(CUpti_ActivityAPI) + 16;
  spans_.leave_out_others();
  spans_.open(2500);  // calls take 1000
  give(1000, record_bytes);
  EXPECT_EQ(read(), 500U);
}

}  // namespace
}  // namespace jaxprof::cupti
