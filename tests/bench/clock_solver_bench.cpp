// What it costs to solve the clocks of a large run: half an hour of 1,024 nodes, simulated, on one core. Printed are
// the processor time of everything that the solver does, its ratio to what decoding the same readings and bursts from
// their blocks takes, how much memory the program took at most, and what the blocks of a node and hour weigh. The
// limits are 5 s for 1,024 nodes and 30 s for 4,096, 1 GB, and 2 MB; of these only the sizes are the same on every
// machine, and only they make the exit status 1.
//
// Usage: clock_solver_bench [--full]; with it 4,096 nodes.
#include <sys/resource.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/spool/clock_codec.h"
#include "tests/simulator/clock_score.h"

namespace {

using namespace jaxprof;

constexpr std::int64_t kLengthNs = 1800 * test::kSimSecondNs;
constexpr double kMemoryLimitMb = 1000;
constexpr double kBlocksLimitMb = 2;

class Stopwatch {
 public:
  template <typename Work>
  void time(const Work& work) {
    const std::int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    work();
    total_ns_ += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
  }
  double seconds() const { return static_cast<double>(total_ns_) * 1e-9; }

 private:
  std::int64_t total_ns_ = 0;
};

// The run goes through encoding and decoding, as it does through spools.
class Bench {
 public:
  explicit Bench(std::uint32_t nodes) : cluster_(options(nodes)), solver_(nodes) {}

  void feed() {
    std::vector<spool::ClockReading> readings;
    for (std::uint32_t node = 0; node < cluster_.options().nodes; ++node) {
      cluster_.readings(node, &readings);
      payload_.clear();
      spool::append_readings(readings, &payload_);
      bytes_ += payload_.size();
      std::vector<spool::ClockReading> decoded;
      decode([&](const spool::ClockReading& reading) { decoded.push_back(reading); }, [](const auto&) {});
      solving_.time([&] { solver_.set_readings(node, decoded); });
    }
    for (std::size_t link = 0; link < cluster_.links().size(); ++link) {
      payload_.clear();
      cluster_.bursts(link, [this](const spool::ProbeBurst& burst) { spool::append_burst(burst, &payload_); });
      bytes_ += payload_.size();
      std::vector<spool::ProbeBurst> bursts;
      decode([](const auto&) {}, [&](const spool::ProbeBurst& burst) { bursts.push_back(burst); });
      const auto [client, server] = cluster_.links()[link];
      solving_.time([&, from = client, to = server] {
        for (const spool::ProbeBurst& burst : bursts) solver_.add_burst(from, to, burst);
      });
    }
  }

  bool report() {
    clock::ClockSolution solution;
    Stopwatch last;
    last.time([&] { solution = solver_.solve(0); });
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double memory_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    const double hours = static_cast<double>(kLengthNs) / 3600e9 * cluster_.options().nodes;
    const double blocks_mb = static_cast<double>(bytes_) / 1e6 / hours;
    const double total_s = solving_.seconds() + last.seconds();
    std::printf("clock_solver.nodes %u\n", cluster_.options().nodes);
    std::printf("clock_solver.seconds %.2f of which adding %.2f\n", total_s, solving_.seconds());
    std::printf("clock_solver.to_decode %.2f\n", total_s / decoding_.seconds());
    std::printf("clock_solver.peak_mb %.0f\n", memory_mb);
    std::printf("clock_solver.blocks_mb_an_hour %.2f\n", blocks_mb);
    const test::ClockScore score = test::score(cluster_, solution, {.step_ns = 61 * test::kSimSecondNs});
    std::printf("clock_solver.rms_us %.3f\n", score.rms_ns / 1e3);
    std::printf("clock_solver.outside_hard %lu of %lu\n", static_cast<unsigned long>(score.outside_hard),
                static_cast<unsigned long>(score.samples));
    return memory_mb <= kMemoryLimitMb && blocks_mb <= kBlocksLimitMb && score.outside_hard == 0 && is_sound_;
  }

 private:
  static test::SimOptions options(std::uint32_t nodes) {
    test::SimOptions options;
    options.nodes = nodes;
    options.length_ns = kLengthNs;
    return options;
  }

  template <typename TakeReading, typename TakeBurst>
  void decode(const TakeReading& take_reading, const TakeBurst& take_burst) {
    decoding_.time([&] { is_sound_ = spool::decode_clock_block(payload_, {take_reading, take_burst}) && is_sound_; });
  }

  test::SimCluster cluster_;
  clock::ClockSolver solver_;
  std::vector<std::uint8_t> payload_;
  std::uint64_t bytes_ = 0;
  bool is_sound_ = true;
  Stopwatch decoding_;
  Stopwatch solving_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool is_full = argc > 1 && std::strcmp(argv[1], "--full") == 0;
  Bench bench(is_full ? 4096 : 1024);
  bench.feed();
  return bench.report() ? 0 : 1;
}
