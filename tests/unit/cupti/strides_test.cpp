// The lengths of records, and walking by them, against NVIDIA's own library.
#include "agent/cupti/strides.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "agent/cupti/block_filler.h"
#include "tests/unit/cupti/real_cupti.h"
#include "tests/unit/cupti/record_buffer.h"
#include "tests/unit/cupti/sink_double.h"

namespace jaxprof::cupti {
namespace {

using test::make_call;
using test::make_kernel;

// Records of the lengths that the library has, in the hand of whoever has only the newest structs.
class RealCupti : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::string why;
    library_ = test::real_cupti(GetParam(), &why);
    if (library_ == nullptr) {
      const char* required = std::getenv("JAXPROF_REQUIRE");
      if (required != nullptr && std::strstr(required, "cupti") != nullptr) FAIL() << why;
      GTEST_SKIP() << why;
    }
    test::make_walker(*library_, &walker_);
    ASSERT_TRUE(strides_.probe(&walker_));
    ASSERT_TRUE(pool_.open(0, true));
    ASSERT_TRUE(encoder_->open(library_->functions.get_callback_name, &spans_));
    filler_.open(&pool_, &strides_, encoder_.get(), &walker_);
  }

  template <typename T>
  void append(const T& record) {
    const std::size_t bytes = strides_.of(static_cast<std::uint32_t>(record.kind));
    ASSERT_GE(bytes, sizeof(std::uint64_t));
    const auto* from = reinterpret_cast<const std::uint8_t*>(&record);
    const std::size_t shared = bytes < sizeof record ? bytes : sizeof record;
    bytes_.insert(bytes_.end(), from, from + shared);
    bytes_.insert(bytes_.end(), bytes - shared, 0);
  }
  // How many records CUPTI finds, and how its walk ends.
  std::size_t walk(abi::Result* end) {
    std::size_t count = 0;
    for (void* record = nullptr;; ++count) {
      *end = walker_.next_record(bytes_.data(), bytes_.size(), &record);
      if (*end != abi::kSuccess) return count;
    }
  }
  // What the buffer becomes when CUPTI gives it back.
  std::vector<spool::Event> read() {
    std::size_t capacity = 0;
    std::uint8_t* buffer = pool_.take(&capacity);
    EXPECT_LE(bytes_.size(), capacity);
    if (bytes_.size() > capacity) return {};
    std::memcpy(buffer, bytes_.data(), bytes_.size());
    EXPECT_EQ(pool_.give(buffer, bytes_.size()), BufferPool::Returned::kToRead);
    std::vector<spool::Event> events;
    static std::vector<std::uint8_t> payload(8 << 10);
    std::uint64_t count = 0;
    while (const std::size_t bytes = filler_.fill(payload.data(), payload.size(), &count)) {
      spool::EventDecoder decoder(payload.data(), bytes);
      std::uint64_t decoded = 0;
      for (spool::Event event; decoder.next(&event); ++decoded) events.push_back(event);
      EXPECT_FALSE(decoder.is_damaged());
      EXPECT_EQ(decoded, count);
      ++blocks_;
    }
    EXPECT_EQ(pool_.unread(), 0U);
    return events;
  }

  test::SinkDouble sink_;
  const Library* library_ = nullptr;
  Subscriber walker_;
  Strides strides_;
  BufferPool pool_;
  KeptSpans spans_;
  std::unique_ptr<ActivityEncoder> encoder_ = std::make_unique<ActivityEncoder>();
  BlockFiller filler_;
  std::vector<std::uint8_t> bytes_;
  int blocks_ = 0;
};

TEST_P(RealCupti, TellsTheLengthOfEachKindThatIsRead) {
  for (const abi::Kind kind : {abi::kMemcpy, abi::kMemset, abi::kDriver, abi::kRuntime, abi::kDevice, abi::kContext,
                               abi::kConcurrentKernel, abi::kOverhead, abi::kMemcpyPeer, abi::kCudaEvent, abi::kStream,
                               abi::kSynchronization, abi::kExternalCorrelation, abi::kGraphTrace}) {
    EXPECT_GT(strides_.of(static_cast<std::uint32_t>(kind)), 16U) << kind;
  }
  EXPECT_GE(strides_.of(abi::kConcurrentKernel), 208U);
  EXPECT_LE(strides_.of(abi::kConcurrentKernel), sizeof(CUpti_ActivityKernel13)) << "longer than any that is known";
  EXPECT_EQ(strides_.of(abi::kRuntime), sizeof(CUpti_ActivityAPI));
  EXPECT_EQ(strides_.of(0), 0U);
  EXPECT_EQ(strides_.of(100'000), 0U);
  EXPECT_FALSE(strides_.probe(&walker_)) << "asked again, it tells the same";
}

TEST_P(RealCupti, WalksAMixedBufferAsCuptiDoes) {
  std::mt19937 random(7);
  std::size_t count = 0;
  CUpti_ActivityMemcpy7 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  for (; count < 500; ++count) {
    switch (random() % 5) {
      case 0:
        append(copy);
        break;
      case 1:
        append(external);
        break;
      case 2:
        append(overhead);
        break;
      case 3:
        append(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1, 1));
        break;
      default:
        append(make_kernel<CUpti_ActivityKernel13>("k", 1, 2, 3));
        break;
    }
  }
  abi::Result end{};
  EXPECT_EQ(walk(&end), count);
  EXPECT_EQ(end, abi::kMaxLimitReached);
  EXPECT_EQ(strides_.count(bytes_.data(), bytes_.size()), count);
}

TEST_P(RealCupti, NamesCallsAsNvidiaDoes) {
  append(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 100, 1));
  append(make_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, 100, 2));
  EXPECT_EQ(read().size(), 2U);
  const auto names = sink_.states<spool::GpuApiState>(spool::StateKind::kGpuApi);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(sink_.text(names[0].name), "cuLaunchKernel");
  EXPECT_EQ(sink_.text(names[1].name), "cudaMemcpyAsync_v3020");
}

TEST_P(RealCupti, FillsSeveralBlocksFromOneBuffer) {
  for (std::uint32_t i = 0; i < 1000; ++i)
    append(make_kernel<CUpti_ActivityKernel13>("k", 1000 + 90 * i, 1050 + 90 * i, i));
  const std::vector<spool::Event> events = read();
  ASSERT_EQ(events.size(), 1000U);
  EXPECT_GT(blocks_, 1);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(events[i].stamp, 1000 + 90 * i);
}

TEST_P(RealCupti, HasCuptiWalkABufferThatTheLengthsDoNotFit) {
  for (std::uint32_t i = 0; i < 10; ++i) append(make_kernel<CUpti_ActivityKernel13>("k", 100 + i, 200 + i, i + 1));
  bytes_.insert(bytes_.end(), 24, 0);  // a remainder of kind 0, which is none
  EXPECT_EQ(read().size(), 10U);
  EXPECT_EQ(sink_.drops(Drop::kGpuUnknownKind), 1U);
}

TEST_P(RealCupti, StopsAtAKindThatCuptiDoesNotKnowAndCounts) {
  append(make_kernel<CUpti_ActivityKernel13>("k", 100, 200, 1));
  const std::uint32_t unknown[8] = {120};
  bytes_.insert(bytes_.end(), reinterpret_cast<const std::uint8_t*>(unknown),
                reinterpret_cast<const std::uint8_t*>(unknown + 8));
  append(make_kernel<CUpti_ActivityKernel13>("k", 300, 400, 2));
  EXPECT_EQ(strides_.count(bytes_.data(), bytes_.size()), 1U);
  EXPECT_EQ(read().size(), 1U);
  EXPECT_EQ(sink_.drops(Drop::kGpuUnknownKind), 1U);
}

INSTANTIATE_TEST_SUITE_P(Cuda, RealCupti, testing::Values(12, 13));

}  // namespace
}  // namespace jaxprof::cupti
