#include "agent/cupti/dying_names.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "agent/cupti/kernel_names.h"
#include "agent/cupti/subscriber.h"
#include "tests/unit/cupti/record_buffer.h"
#include "tests/unit/cupti/sink_double.h"

namespace jaxprof::cupti {
namespace {

using Kernel = CUpti_ActivityKernel9;

// A library whose records of all kinds are as long as a kernel's.
abi::Result walk(std::uint8_t* buffer, std::size_t bytes, void** record) {
  auto* next = *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + sizeof(Kernel);
  if (next + sizeof(Kernel) > buffer + bytes) return abi::kMaxLimitReached;
  *record = next;
  return abi::kSuccess;
}

class DyingNamesTest : public testing::Test {
 protected:
  DyingNamesTest() {
    library_.functions.get_next_record = walk;
    Subscriber walker;
    walker.use(library_);
    strides_.probe(&walker);
    EXPECT_TRUE(pool_.open(0, true));
    buffer_ = pool_.take(&bytes_);
  }

  void write(std::size_t place, const char* name, std::uint64_t start_ns = 500) {
    const auto kernel = test::make_kernel<Kernel>(name, start_ns, start_ns + 100, 1);
    std::memcpy(buffer_ + place * sizeof kernel, &kernel, sizeof kernel);
  }
  // More names than one unload reads.
  void write_many() {
    ASSERT_LE(kMany * sizeof(Kernel), BufferPool::kBufferBytes);
    for (std::size_t i = 0; i < kMany; ++i) {
      many_.push_back("kernel " + std::to_string(i));
      write(i, many_.back().c_str());
    }
  }
  bool unload() { return dying_->note_all(&pool_, strides_, 0); }

  static constexpr std::size_t kMany = DyingNames::kMaxNames + 100;
  test::SinkDouble sink_;
  Library library_;
  BufferPool pool_;
  Strides strides_;
  std::unique_ptr<DyingNames> dying_ = std::make_unique<DyingNames>();
  std::vector<std::string> many_ = [] {
    std::vector<std::string> names;
    names.reserve(kMany);  // they stay where they are
    return names;
  }();
  std::uint8_t* buffer_ = nullptr;
  std::size_t bytes_ = 0;
};

TEST_F(DyingNamesTest, KeepNamesOfRecordsThatCuptiStillHas) {
  write(0, "first");
  write(1, "second");
  EXPECT_TRUE(unload());
  EXPECT_EQ(dying_->find("never seen"), spool::kNoString);
  Kernel kernel;
  std::memcpy(&kernel, buffer_ + sizeof kernel, sizeof kernel);
  EXPECT_EQ(sink_.text(dying_->find(kernel.name)), "second");
}

TEST_F(DyingNamesTest, AreReadOnceForEachRecord) {
  char name[] = "first";
  write(0, name);
  EXPECT_TRUE(unload());
  std::strcpy(name, "other");
  EXPECT_TRUE(unload());
  EXPECT_EQ(sink_.text(dying_->find(name)), "first");
  write(1, name);
  EXPECT_TRUE(unload());
  EXPECT_EQ(sink_.text(dying_->find(name)), "other");
}

TEST_F(DyingNamesTest, OfRecordsThatAreBeingWrittenAreLookedForAgain) {
  write(0, nullptr);
  write(1, "behind");
  EXPECT_TRUE(unload());
  const char* late = "late";
  write(0, late);
  EXPECT_TRUE(unload());
  EXPECT_EQ(sink_.text(dying_->find(late)), "late");
}

TEST_F(DyingNamesTest, AreLookedForAnewInARecycledBuffer) {
  write(0, "first");
  EXPECT_TRUE(unload());
  pool_.give(buffer_, sizeof(Kernel));
  BufferPool::Buffer read;
  ASSERT_TRUE(pool_.next_to_read(&read));
  pool_.recycle(read);
  ASSERT_EQ(pool_.take(&bytes_), buffer_);
  const char* next = "next";
  write(0, next);
  EXPECT_TRUE(unload());
  EXPECT_EQ(sink_.text(dying_->find(next)), "next");
}

TEST_F(DyingNamesTest, AreReadUpToABoundAnUnload) {
  write_many();
  EXPECT_FALSE(unload());
  EXPECT_EQ(sink_.text(dying_->find(many_.front().c_str())), many_.front());
  EXPECT_EQ(dying_->find(many_.back().c_str()), spool::kNoString);
  EXPECT_TRUE(unload()) << "the rest";
  EXPECT_EQ(sink_.text(dying_->find(many_.back().c_str())), many_.back());
}

TEST_F(DyingNamesTest, ThatNoUnloadHasReadAreLostAndCounted) {
  write_many();
  const auto names = std::make_unique<KernelNames>();
  ASSERT_TRUE(names->open());
  names->note_unload(1000, &pool_, strides_);
  EXPECT_EQ(sink_.text(names->number_of(many_.front().c_str(), 500).value()), many_.front());
  EXPECT_EQ(sink_.drops(Drop::kGpuNameLost), 0U);
  for (int kernel = 0; kernel < 3; ++kernel) {
    EXPECT_EQ(names->number_of(many_.back().c_str(), 500).value(), spool::kLostString);
  }
  EXPECT_EQ(sink_.drops(Drop::kGpuNameLost), 3U);
  EXPECT_EQ(sink_.text(names->number_of(many_.back().c_str(), 1100).value()), many_.back()) << "of after the unload";
}

}  // namespace
}  // namespace jaxprof::cupti
