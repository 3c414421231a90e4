#include "agent/cupti/kernel_names.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/unit/cupti/record_buffer.h"
#include "tests/unit/cupti/sink_double.h"

namespace jaxprof::cupti {
namespace {

class KernelNamesTest : public testing::Test {
 protected:
  KernelNamesTest() { EXPECT_TRUE(names_->open()); }
  void unload(std::uint64_t now_ns) { names_->note_unload(now_ns, &pool_, strides_); }
  test::SinkDouble sink_;
  BufferPool pool_;
  Strides strides_;
  std::unique_ptr<KernelNames> names_ = std::make_unique<KernelNames>();
};

TEST_F(KernelNamesTest, ReadsAPointerOnce) {
  char name[] = "first";
  const spool::StringId id = names_->number_of(name, 100).value();
  std::strcpy(name, "other");
  EXPECT_EQ(names_->number_of(name, 200).value(), id);
  EXPECT_EQ(sink_.text(id), "first");
  EXPECT_EQ(names_->number_of(nullptr, 100).value(), spool::kNoString);
}

TEST_F(KernelNamesTest, ReadsAPointerAnewForWhatRanAfterAnUnload) {
  char name[] = "first";
  const spool::StringId first = names_->number_of(name, 100).value();
  unload(1000);
  std::strcpy(name, "other");
  EXPECT_EQ(names_->number_of(name, 900).value(), first);
  EXPECT_EQ(sink_.text(names_->number_of(name, 1100).value()), "other");
}

TEST_F(KernelNamesTest, KeepsNamesOfRecordsThatNobodyHasReadAtAnUnload) {
  char name[] = "first";
  DyingNames dying;
  auto kernel = test::make_kernel<CUpti_ActivityKernel9>(name, 500, 600, 1);
  dying.note(test::record_of(kernel), 0);
  std::strcpy(name, "other");
  EXPECT_EQ(sink_.text(dying.find(name)), "first");
  dying.note(test::record_of(kernel), 1000);  // the next unload: the record is older than the last
  EXPECT_EQ(sink_.text(dying.find(name)), "first");
  kernel.start = 1500;
  dying.note(test::record_of(kernel), 1000);
  EXPECT_EQ(sink_.text(dying.find(name)), "other");
  EXPECT_EQ(dying.find("never seen"), spool::kNoString);
}

TEST_F(KernelNamesTest, SurvivesANameThatIsNotThereAnyMore) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* name = static_cast<char*>(page);
  std::strcpy(name, "gone");
  munmap(page, 4096);
  EXPECT_EQ(names_->number_of(name, 100).value(), spool::kLostString);
  EXPECT_EQ(sink_.drops(Drop::kGpuNameLost), 1U);
}

TEST_F(KernelNamesTest, CutsANameWithoutAnEndAtThePagesEnd) {
  auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  std::memset(pages, 'x', 4096);
  munmap(pages + 4096, 4096);
  EXPECT_EQ(names_->number_of(pages + 4000, 100).value(), spool::kLostString);
  munmap(pages, 4096);
}

TEST_F(KernelNamesTest, ReadsANameAcrossAPagesEnd) {
  auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  const std::string text = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_nn_align8>";
  std::strcpy(pages + 4096 - 10, text.c_str());
  EXPECT_EQ(sink_.text(names_->number_of(pages + 4096 - 10, 100).value()), text);
  munmap(pages, 8192);
}

}  // namespace
}  // namespace jaxprof::cupti
