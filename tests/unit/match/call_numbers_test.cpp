// Processes that hold several members of one communicator, seen by NVTX alone: the agent's count is one over all of
// them.
#include "merge/match/call_numbers.h"

#include <gtest/gtest.h>

#include "tests/unit/match/loaded_process.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::match {
namespace {

using test::LoadedProcess;
using test::NcclRecording;

// Two members, whose threads are 1 and 2.
class TwoMembers : public NcclRecording {
 public:
  TwoMembers() : NcclRecording(0, 2, false) {
    comm_range(0, 2, 10);
    comm_range(1, 2, 20);
  }
  // The process's `ordinal`-th AllReduce, from 1.
  void all_reduce(std::uint32_t thread, std::uint64_t ordinal, std::uint64_t bytes = 64) {
    use_thread(thread);
    counted_range("ncclAllReduce", 100 * ordinal, 100 * ordinal + 10, bytes, ordinal);
  }
  void group(std::uint64_t first_ordinal, std::uint64_t count = 2) {
    range("ncclGroupStart", 100 * first_ordinal - 20, 100 * first_ordinal - 10);
    for (std::uint64_t i = 0; i < count; ++i) all_reduce(1, first_ordinal + i);
    range("ncclGroupEnd", 100 * (first_ordinal + count) - 80, 100 * (first_ordinal + count) - 70);
  }
};

struct Number {
  std::uint32_t thread;
  std::uint64_t sequence;
  std::int32_t rank;
  bool operator==(const Number&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Number& number) {
  return out << "{thread " << number.thread << ", " << static_cast<std::int64_t>(number.sequence) << ", rank "
             << number.rank << "}";
}

std::vector<Number> numbers_of(const NcclRecording& recording) {
  std::vector<Number> numbers;
  for (const NcclCall& call : LoadedProcess(recording).calls().calls) {
    EXPECT_EQ(call.is_sequence_counted, call.sequence != kNoAmount);
    numbers.push_back({call.thread, call.sequence, call.comm_rank});
  }
  return numbers;
}

constexpr std::uint64_t kNone = kNoAmount;

TEST(CallNumbers, AThreadAMemberCountsForItself) {
  TwoMembers recording;
  recording.all_reduce(1, 1);
  recording.all_reduce(1, 2);
  recording.all_reduce(2, 3);
  recording.all_reduce(2, 4);
  recording.all_reduce(1, 5);
  EXPECT_EQ(numbers_of(recording), (std::vector<Number>{{1, 0, -1}, {1, 1, -1}, {2, 0, -1}, {2, 1, -1}, {1, 2, -1}}));
}

TEST(CallNumbers, TheThreadThatMadeAMemberCallsForIt) {
  NcclRecording recording(0, 2, false);
  for (const std::uint32_t thread : {1U, 2U}) {
    recording.use_thread(thread);
    recording.comm_range(static_cast<std::int32_t>(2 - thread), 2, 10 * thread);
  }
  for (const std::uint32_t thread : {1U, 2U}) {
    recording.use_thread(thread);
    recording.counted_range("ncclAllReduce", 100 * thread, 100 * thread + 10, 64, thread);
  }
  EXPECT_EQ(numbers_of(recording), (std::vector<Number>{{1, 0, 1}, {2, 0, 0}}));
}

TEST(CallNumbers, NothingIsToldBehindACallThatWasNotRecorded) {
  TwoMembers recording;
  recording.all_reduce(1, 1);
  recording.all_reduce(2, 2);
  recording.all_reduce(1, 4);
  recording.all_reduce(2, 5);
  EXPECT_EQ(numbers_of(recording), (std::vector<Number>{{1, 0, -1}, {2, 0, -1}, {1, kNone, -1}, {2, kNone, -1}}));
}

TEST(CallNumbers, ThreadsWhoseCallsDifferAreNotMembers) {
  TwoMembers recording;
  recording.all_reduce(1, 1, 64);
  recording.all_reduce(2, 2, 128);
  EXPECT_EQ(numbers_of(recording), (std::vector<Number>{{1, kNone, -1}, {2, kNone, -1}}));
}

TEST(CallNumbers, MoreThreadsThanMembersTellNothing) {
  TwoMembers recording;
  for (std::uint32_t thread = 1; thread <= 3; ++thread) recording.all_reduce(thread, thread);
  for (const Number& number : numbers_of(recording)) EXPECT_EQ(number.sequence, kNone);
}

TEST(CallNumbers, AGroupHasOneCallOfEachMemberWhereverTheWindowOpened) {
  TwoMembers recording;
  recording.group(7);
  recording.group(11);  // the one between was lost
  EXPECT_EQ(numbers_of(recording), (std::vector<Number>{{1, 3, -1}, {1, 3, -1}, {1, 5, -1}, {1, 5, -1}}));
}

TEST(CallNumbers, GroupsOfAnotherSizeTellNothing) {
  TwoMembers recording;
  recording.group(1, 4);
  recording.group(5, 1);
  for (const Number& number : numbers_of(recording)) EXPECT_EQ(number.sequence, kNone);
}

}  // namespace
}  // namespace jaxprof::match
