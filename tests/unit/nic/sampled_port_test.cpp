#include "netsampler/nic/sampled_port.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

// A card whose driver takes at least so long for an answer.
class SlowSource : public CounterSource {
 public:
  explicit SlowSource(const std::uint64_t* takes_ns) : takes_ns_(takes_ns) {}
  ReadOutcome read(std::span<std::uint64_t> values) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(*takes_ns_);
    while (std::chrono::steady_clock::now() < end) {
    }
    for (std::uint64_t& value : values) value = ++count_;
    return ReadOutcome::kOk;
  }

 private:
  const std::uint64_t* takes_ns_;
  std::uint64_t count_ = 0;
};

class SampledPortTest : public testing::Test {
 protected:
  void begin(std::uint64_t lifespan_ns) {
    PortReader reader;
    reader.columns = {Column{.name = "tx_bytes", .is_fast = true}, Column{.name = "errors"}};
    reader.fast_count = 1;
    reader.lifespan_ns = lifespan_ns;
    reader.sources.push_back(std::make_unique<SlowSource>(&takes_ns_));
    sampled_.begin(FoundPort{}, std::move(reader), &port_);
  }
  void read(int times, bool fast_only) {
    Reading reading;
    for (int i = 0; i < times; ++i) {
      sampled_.read(port_, fast_only, &reading);
      ASSERT_TRUE(reading.is_ok);
    }
  }
  std::uint64_t reading_ns() const { return sampled_.wish(port_).reading_ns; }

  std::uint64_t takes_ns_ = 0;
  Port port_;
  SampledPort sampled_;
};

// No reading of a test takes a hundred times as long by accident.
TEST_F(SampledPortTest, ReadingsThatBecomeSlowCountAsSlow) {
  begin(0);
  takes_ns_ = 100 * reading_ns() + 2 * kMillisecond;
  read(5, true);
  EXPECT_TRUE(sampled_.revise());
  EXPECT_GE(reading_ns(), takes_ns_);
  EXPECT_FALSE(sampled_.revise()) << "nothing was read since";
}

TEST_F(SampledPortTest, AFewReadingsAndThoseOfAllColumnsDoNotTell) {
  begin(0);
  const std::uint64_t before_ns = reading_ns();
  takes_ns_ = 100 * before_ns + 2 * kMillisecond;
  read(4, true);
  read(3, false);
  EXPECT_FALSE(sampled_.revise());
  EXPECT_EQ(reading_ns(), before_ns);
}

TEST_F(SampledPortTest, WhereTheKernelKeepsValuesTheFirstReadingHasTold) {
  takes_ns_ = 2 * kMillisecond;
  begin(10 * kMillisecond);
  takes_ns_ = 0;
  read(5, true);
  EXPECT_FALSE(sampled_.revise());
  EXPECT_GE(reading_ns(), 2 * kMillisecond);
}

}  // namespace
}  // namespace jaxprof::netsampler
