// Random processes of which it is known what belongs together: several threads and streams, calls alone and in groups,
// launches marked or only bracketed, graphs captured, cloned and replayed, records in no order. Whatever comes out must
// be exactly what was planted.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/unit/match/joined_process.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::match {
namespace {

using test::Call;
using test::gpu;
using test::NcclRecording;

// Which kernels, by start and node, carried out which calls, by sequence, in which replay (-1: none).
using Truth = std::set<std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::uint64_t>>;

// What one launch of the process is recorded as, other than it was.
enum class Fault { kNone, kMarkOfAnother, kNodeOfAnother, kOutsideItsBracket };

class RandomProcess : public NcclRecording {
 public:
  // CUPTI's correlations begin anew behind `last_correlation`, an hour later.
  explicit RandomProcess(unsigned seed, Fault fault = Fault::kNone, std::uint64_t last_correlation = UINT64_MAX)
      : random_(seed), fault_(fault), last_correlation_(last_correlation) {
    for (std::uint32_t thread = 1; thread <= kThreads; ++thread) {
      this->thread(thread, 500 + thread);
      lane(thread, 0, 10 + thread, kStream + thread);
    }
    std::vector<std::uint32_t> turns;
    for (int i = 0; i < 60; ++i) turns.push_back(1 + static_cast<std::uint32_t>(pick(kThreads)));
    for (const std::uint32_t thread : turns) act(thread);
    std::shuffle(records_.begin(), records_.end(), random_);
    for (const auto& write : records_) write();
  }
  const Truth& truth() const { return truth_; }
  std::size_t wraps() const { return wraps_; }

 private:
  static constexpr std::uint32_t kThreads = 3;
  static constexpr std::uint64_t kStream = 0x1000;

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  // Whether it is now that the process gets its fault: once, behind its first launches.
  bool spoilt(Fault fault) {
    if (fault_ != fault || sequence_ < 20) return false;
    fault_ = Fault::kNone;
    return true;
  }

  // One group of calls, eager or captured and replayed.
  void act(std::uint32_t thread) {
    if (correlation_ >= last_correlation_) {
      correlation_ = 0;
      ++wraps_;
      now_ += 3'600'000'000'000;
    }
    use_thread(thread);
    const bool is_captured = pick(4) == 0;
    const std::size_t count = 1 + pick(3);
    const std::uint64_t start = now_;
    now_ += 1000;
    const std::uint64_t group_call = group_api(count > 1 ? 2 : 1, start, start + 400);
    std::vector<std::uint64_t> apis;
    std::vector<std::uint64_t> sequences;
    for (std::size_t i = 0; i < count; ++i) {
      Call call;
      call.is_captured = is_captured;
      apis.push_back(coll_api(call, group_call, start + 10 + i, start + 11 + i));
      sequences.push_back(sequence_++);
    }
    const std::uint64_t launched = launch(0, start + 100, start + 150, thread);
    const std::uint64_t plan = group(start + 200, start + 300, thread);
    for (std::size_t i = 0; i < count; ++i) {
      Call call;
      call.is_captured = is_captured;
      call.sequence = sequences[i];
      coll(call, apis[i], plan, start + 210 + i, start + 211 + i, thread);
    }
    if (is_captured) {
      replay(thread, launched, sequences);
    } else {
      run(thread, launched, start, sequences);
    }
    previous_launch_ = launched;
  }

  void run(std::uint32_t thread, std::uint64_t launched, std::uint64_t start,
           const std::vector<std::uint64_t>& sequences) {
    const std::uint64_t correlation = ++correlation_;
    const bool is_marked = pick(2) == 0;
    const std::uint64_t marked = is_marked && spoilt(Fault::kMarkOfAnother) ? previous_launch_ : launched;
    if (is_marked) records_.push_back([=, this] { external(marked, correlation); });
    // A call of CUDA within the bracket; beside it one of the user's own, which launches no kernel of NCCL's.
    const std::uint64_t other = ++correlation_;
    const std::uint64_t called = start + (!is_marked && spoilt(Fault::kOutsideItsBracket) ? 600 : 110);
    const bool is_call_lost = is_marked && wraps_ > 0 && pick(2) == 0;
    if (!is_call_lost) records_.push_back([=, this] { api_call(gpu(called), 20, 500 + thread, correlation); });
    records_.push_back([=, this] { api_call(gpu(start + 500), 20, 500 + thread, other); });
    records_.push_back([=, this] { kernel("gemm", gpu(start + 600), 30, thread, other); });
    const std::uint64_t longest_wait = last_correlation_ == UINT64_MAX ? 3000 : 600'000'000'000;
    const std::uint64_t kernel_start = gpu(start + 400 + pick(longest_wait));
    records_.push_back([=, this] { kernel("ncclDevKernel_AllReduce_X", kernel_start, 100, thread, correlation); });
    for (const std::uint64_t sequence : sequences)
      truth_.emplace(sequence, -1, static_cast<std::int64_t>(kernel_start), 0);
  }

  void replay(std::uint32_t thread, std::uint64_t launched, const std::vector<std::uint64_t>& sequences) {
    const std::uint64_t captured = ++node_;
    const std::uint64_t cloned = ++node_;
    const std::size_t replays = pick(4);
    graph_node(captured, 0, replays > 0 && spoilt(Fault::kNodeOfAnother) ? previous_launch_ : launched);
    if (pick(2) == 0) {
      graph_node(cloned, captured, 0);
    } else {
      graph_node(cloned + 1000, captured, 0);  // a clone of a clone
      graph_node(cloned, cloned + 1000, 0);
    }
    for (std::size_t k = 0; k < replays; ++k) {
      const std::uint64_t correlation = ++correlation_;
      const std::uint64_t start = gpu(now_ + 100 * k);
      records_.push_back([=, this] { kernel("ncclDevKernel_AllReduce_X", start, 50, thread, correlation, cloned); });
      for (const std::uint64_t sequence : sequences) {
        truth_.emplace(sequence, static_cast<std::int64_t>(k), static_cast<std::int64_t>(start), cloned);
      }
    }
    now_ += 1000;
  }

  std::mt19937 random_;
  Fault fault_;
  std::uint64_t last_correlation_;
  std::size_t wraps_ = 0;
  std::uint64_t previous_launch_ = 0;
  std::uint64_t now_ = 1000;
  std::uint64_t sequence_ = 0;
  std::uint64_t correlation_ = 0;
  std::uint64_t node_ = 0;
  std::vector<std::function<void()>> records_;
  Truth truth_;
};

Truth found_by(const test::JoinedProcess& process) {
  Truth found;
  for (const NcclWork& item : process.join().work) {
    std::size_t call = item.call;
    std::int64_t replay = -1;
    if (call >= process.calls().size()) {
      const NcclReplay& of = process.join().replays[call - process.calls().size()];
      call = of.capture;
      replay = static_cast<std::int64_t>(of.replay);
    }
    const runfile::KernelTable& kernels = process.work().kernels;
    const std::uint64_t node = kernels.graph_node[item.work.row];
    found.emplace(process.calls()[call].sequence, replay, kernels.start_ns[item.work.row],
                  node == runfile::kNoRow ? 0 : node);
  }
  return found;
}

// What only one of the two has, in words.
std::string difference(const Truth& found, const Truth& truth) {
  std::string text;
  const auto list = [&text](const char* what, const Truth& of, const Truth& other) {
    for (const auto& [call, replay, start, node] : of) {
      if (other.count({call, replay, start, node}) > 0) continue;
      text += std::string(what) + " call " + std::to_string(call) + " replay " + std::to_string(replay) + ", work at " +
              std::to_string(start) + "\n";
    }
  };
  list("wrong:", found, truth);
  list("not found:", truth, found);
  return text;
}

TEST(KernelJoinProperty, FindsExactlyWhatWasPlanted) {
  std::size_t planted = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const RandomProcess recording(seed);
    planted += recording.truth().size();
    ASSERT_EQ(difference(found_by(test::JoinedProcess(recording)), recording.truth()), "") << "seed " << seed;
  }
  EXPECT_GT(planted, 1000u) << "else nothing was shown";
}

TEST(KernelJoinProperty, FindsItAlsoWhereCorrelationsComeAgain) {
  std::size_t wraps = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const RandomProcess recording(seed, Fault::kNone, 40);
    wraps += recording.wraps();
    ASSERT_EQ(difference(found_by(test::JoinedProcess(recording)), recording.truth()), "") << "seed " << seed;
  }
  EXPECT_GT(wraps, 60u) << "else nothing was shown";
}

// A property that no fault violates shows nothing: one launch is recorded wrongly, and the joins must differ.
TEST(KernelJoinProperty, SeesAPlantedFault) {
  for (const Fault fault : {Fault::kMarkOfAnother, Fault::kNodeOfAnother, Fault::kOutsideItsBracket}) {
    const RandomProcess recording(3, fault);
    EXPECT_NE(found_by(test::JoinedProcess(recording)), recording.truth()) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace jaxprof::match
