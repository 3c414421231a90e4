#include "merge/study/kernel_class.h"

#include <gtest/gtest.h>

#include "merge/study/kernel_name.h"

namespace jaxprof::study {
namespace {

TEST(KernelClass, KnowsNcclsKernelsOfEveryReleaseByName) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_AllReduce_RING_LL_Sum_float",
                           "ncclSymDevKernel_AllGather_LL", "ncclSymkDevKernel_AllReduce_AGxLL_R", "nccl:all_reduce",
                           "NCCL:ALLREDUCE", "NcclDevKernel_SendRecv", "nvshmemi_transfer_rma",
                           "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE"}) {
    EXPECT_TRUE(is_comm_kernel_name(name)) << name;
  }
}

TEST(KernelClass, TakesNoOtherKernelForCommunication) {
  for (const char* name : {"gemm", "loop_multiply_add_fusion_1", "my_nccl_like_gemm", "_Z9nccl_testPf", "ncclfoo",
                           "void user::kernel<ncclDevKernelArgs>(ncclDevKernelArgs)", "", "_Z", "AllReduce_Sum_f32"}) {
    EXPECT_FALSE(is_comm_kernel_name(name)) << name;
  }
}

TEST(KernelName, IsDemangledWhereItIsMangled) {
  EXPECT_EQ(demangled("_Z3addPf"), "add(float*)");
  EXPECT_EQ(demangled("loop_fusion_1"), "loop_fusion_1");
  EXPECT_EQ(demangled("_Znot a name"), "_Znot a name");
}

TEST(KernelName, HasTheFunctionAloneAsItsBase) {
  EXPECT_EQ(base_name("void at::native::vectorized_elementwise_kernel<4, at::native::Add<float>, std::array<char*, "
                      "4ul> >(int, at::native::Add<float>, std::array<char*, 4ul>)"),
            "vectorized_elementwise_kernel");
  EXPECT_EQ(base_name("void (anonymous namespace)::softmax<float, (int)3>(float*)"), "softmax");
  EXPECT_EQ(base_name("add(float*)"), "add");
  EXPECT_EQ(base_name("nccl:all_reduce"), "nccl:all_reduce");
  EXPECT_EQ(base_name("fused computation"), "fused computation");
  EXPECT_EQ(base_name("a::b::c"), "c");
  EXPECT_EQ(base_name(""), "");
  EXPECT_EQ(base_name("(((<<"), "(((<<");
}

TEST(KernelName, IsCutWithinItsTemplateArgumentsAndNeverWithinACharacter) {
  EXPECT_EQ(short_name("void cutlass::Kernel<Gemm, 4>(int)", 60), "Kernel<Gemm, 4>");
  EXPECT_EQ(short_name("void cutlass::Kernel<Gemm, 4>(int)", 9), "Kernel<G…");
  EXPECT_EQ(short_name("ab\xC3\xA4\xC3\xA4", 4), "ab…");
}

}  // namespace
}  // namespace jaxprof::study
