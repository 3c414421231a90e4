// The names of -t.
#include "agent/contract/trace_kinds.h"

#include <gtest/gtest.h>

#include <string>

namespace jaxprof {
namespace {

std::string text_of(std::uint32_t kinds) {
  char text[kTraceKindsBytes];
  TextBuffer out(text, sizeof text);
  append_trace_kinds(kinds, &out);
  EXPECT_FALSE(out.is_truncated());
  return text;
}

TEST(TraceKindOf, KnowsEachNameThatIsWritten) {
  for (std::uint32_t kind = kTraceCuda; kind <= kTraceHardware; kind <<= 1) {
    TraceFault fault = TraceFault::kUnknown;
    EXPECT_EQ(trace_kind_of(text_of(kind), &fault) & kind, kind) << text_of(kind);
    EXPECT_EQ(fault, TraceFault::kNone);
  }
}

TEST(TraceKindOf, AdditionsToCudaBringItAlong) {
  TraceFault fault;
  for (const char* name : {"sync", "cuda-event", "cuda-graph", "cuda-hw"}) {
    EXPECT_NE(trace_kind_of(name, &fault) & kTraceCuda, 0u) << name;
  }
  EXPECT_EQ(trace_kind_of("cuda-sw", &fault), kTraceCuda);
  EXPECT_EQ(trace_kind_of("nvtx", &fault), kTraceNvtx);
}

TEST(TraceKindOf, TellsOthersNamesFromNone) {
  TraceFault fault;
  for (const char* name : {"osrt", "mpi", "ucx", "cudnn", "python-gil"}) {
    EXPECT_EQ(trace_kind_of(name, &fault), 0u);
    EXPECT_EQ(fault, TraceFault::kUnsupported) << name;
  }
  for (const char* name : {"", "CUDA", "cud", "cudas", "nvtx "}) {
    EXPECT_EQ(trace_kind_of(name, &fault), 0u);
    EXPECT_EQ(fault, TraceFault::kUnknown) << name;
  }
  EXPECT_EQ(trace_kind_of("none", &fault), 0u);
  EXPECT_EQ(fault, TraceFault::kNone);
}

TEST(AppendTraceKinds, WritesSets) {
  EXPECT_EQ(text_of(kDefaultTrace), "cuda,nvtx,nccl,nic,gpu");
  EXPECT_EQ(text_of(0), "none");
  EXPECT_EQ(text_of(UINT32_MAX), "cuda,nvtx,nccl,nic,gpu,sync,cuda-event,cuda-graph,cuda-hw");
}

}  // namespace
}  // namespace jaxprof
