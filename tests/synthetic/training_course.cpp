#include "tests/synthetic/training_course.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

using spool::NcclFunction;

constexpr std::int64_t kBeginNs = 2'000'000'000;
constexpr std::int64_t kLaunchNs = 8'000;        // from a launch to the begin of the work, if nothing is before it
constexpr std::int64_t kBetweenCallsNs = 3'000;  // two launches
constexpr std::int64_t kAheadNs = 60'000;        // the host is ahead of its GPU by this, unless it was held up
constexpr std::int64_t kExitNs = 800;            // members leave a collective within this
constexpr double kKernelNoise = 0.01;
constexpr double kTransferNoise = 0.03;
// Now and then the host, or a transfer, takes its time for reasons of its own.
constexpr double kOddChance = 0.002;
constexpr double kOddStallNs = 200'000;
constexpr double kOddFactor = 1.4;

constexpr std::int64_t kLatencyNs = 20'000;
constexpr double kNodeBytesANs = 150;  // within a node
constexpr double kPortBytesANs = 45;

// What one rank sends to its neighbour in a ring.
double ring_bytes(const StepUnit& unit, std::uint32_t n) {
  const auto bytes = static_cast<double>(unit.bytes);
  const double others = n - 1.0;
  return unit.function == NcclFunction::kAllReduce ? 2 * others / n * bytes : others * bytes;
}

}  // namespace

// Goes through the job unit by unit.
class TrainingCourse::Play {
 public:
  Play(const RunPlan& plan, TrainingCourse* course)
      : plan_(plan), training_(*plan.training), course_(*course), free_ns_(plan.processes, kBeginNs) {
    for (std::uint32_t rank = 0; rank < plan.processes; ++rank) {
      random_.emplace_back(test::mix(plan.seed ^ 0x9107, rank));
    }
  }

  void play() {
    for (std::uint32_t step = 0; step < course_.steps_; ++step) {
      for (std::uint32_t unit = 0; unit < course_.units_.size(); ++unit) play_unit(step, unit);
    }
    course_.end_ns_ = *std::max_element(free_ns_.begin(), free_ns_.end());
  }

 private:
  Segment& segment(std::uint32_t rank, std::uint32_t step, std::uint32_t unit) {
    const std::size_t n_units = course_.units_.size();
    return course_.segments_[(std::size_t{rank} * course_.steps_ + step) * n_units + unit];
  }

  void play_unit(std::uint32_t step, std::uint32_t unit) {
    for (std::uint32_t rank = 0; rank < plan_.processes; ++rank) work(rank, step, unit);
    std::vector<Comm> comms;
    for (std::uint32_t rank = 0; rank < plan_.processes; ++rank) {
      const Comm comm = comm_of(plan_, course_.units_[unit].comm, rank);
      if (comm.exists() && comm.member(0) == rank) comms.push_back(comm);
    }
    for (const Comm& comm : comms) meet(comm, step, unit);
  }

  // What `kind` does to the rank then, ns.
  std::int64_t extra_ns(SlowdownKind kind, std::uint32_t rank, std::uint32_t step) const {
    std::int64_t sum_ns = 0;
    for (const Slowdown& slowdown : training_.slowdowns) {
      const bool acts = slowdown.acts_on(rank, plan_.node_of(rank), step, plan_.processes);
      if (slowdown.kind == kind && acts) sum_ns += slowdown.extra_ns;
    }
    return sum_ns;
  }

  double kernel_factor(std::uint32_t rank, std::uint32_t step) const {
    double factor = 1;
    for (const Slowdown& slowdown : training_.slowdowns) {
      const bool acts = slowdown.acts_on(rank, plan_.node_of(rank), step, plan_.processes);
      if (slowdown.kind == SlowdownKind::kSlowKernels && acts) factor *= slowdown.factor;
    }
    return factor;
  }

  // One piece after the other, on one stream.
  void run(std::int64_t length_ns, std::int64_t* free_ns, std::int64_t* launched_ns, test::SimRandom* random,
           std::vector<CourseWork>* list) const {
    constexpr std::int64_t kShortestGapNs = 1'000;
    constexpr double kMoreGapNs = 1'500;
    CourseWork done;
    const std::int64_t gap_ns = kShortestGapNs + static_cast<std::int64_t>(random->uniform(0, kMoreGapNs));
    done.launch_ns = std::max(*free_ns + gap_ns - kAheadNs, *launched_ns + kBetweenCallsNs);
    done.start_ns = std::max(*free_ns + gap_ns, done.launch_ns + kLaunchNs);
    done.length_ns = length_ns;
    *free_ns = done.end_ns();
    *launched_ns = done.launch_ns;
    list->push_back(done);
  }

  // What a rank does until it comes to the unit.
  void work(std::uint32_t rank, std::uint32_t step, std::uint32_t unit) {
    test::SimRandom& random = random_[rank];
    const StepUnit& program = course_.units_[unit];
    Segment& own = segment(rank, step, unit);
    own.begin_ns = free_ns_[rank];
    std::int64_t stall_ns = extra_ns(SlowdownKind::kHostStall, rank, step);
    if (unit == 0) stall_ns += extra_ns(SlowdownKind::kHostStallOnce, rank, step);
    own.excess_ns = stall_ns;
    if (random.chance(kOddChance)) stall_ns += static_cast<std::int64_t>(random.exponential(kOddStallNs));
    std::int64_t launched_ns = own.begin_ns + (stall_ns > 0 ? stall_ns : -kAheadNs) - kBetweenCallsNs;
    std::int64_t free_ns = own.begin_ns;
    const auto noisy = [&random](double length_ns) {
      return static_cast<std::int64_t>(length_ns * (1 + random.uniform(-kKernelNoise, kKernelNoise)));
    };
    for (const StepCopy& copy : program.copies) {
      const bool is_input = copy.kind == CopyKind::kHostToDevice;
      const std::int64_t more_ns = is_input ? extra_ns(SlowdownKind::kSlowCopy, rank, step) : 0;
      own.excess_ns += more_ns;
      const std::int64_t length_ns = noisy(static_cast<double>(copy.length_ns())) + more_ns;
      run(length_ns, &free_ns, &launched_ns, &random, &own.copies);
    }
    const double factor = kernel_factor(rank, step);
    for (const MixedKernel& kernel : program.kernels) {
      const auto length_ns = static_cast<double>(kernel.length_ns);
      own.excess_ns += static_cast<std::int64_t>(length_ns * (factor - 1));
      run(noisy(length_ns * factor), &free_ns, &launched_ns, &random, &own.kernels);
    }
    const std::int64_t skew_ns = extra_ns(SlowdownKind::kSkew, rank, step);
    own.excess_ns += skew_ns;
    const double jitter_ns = random.uniform(0, static_cast<double>(training_.jitter_ns));
    own.arrival_ns = free_ns + kBetweenCallsNs + static_cast<std::int64_t>(jitter_ns) + skew_ns;
    own.call_ns = std::max(own.arrival_ns - kAheadNs, launched_ns + kBetweenCallsNs);
  }

  // By how much transfers between these nodes are slower.
  double transfer_factor(const Comm& comm, std::uint32_t step) const {
    double factor = 1;
    for (const Slowdown& slowdown : training_.slowdowns) {
      if (!slowdown.is_of_transfers() || !slowdown.is_in(step)) continue;
      bool acts = slowdown.kind == SlowdownKind::kSlowNetwork;
      for (std::uint32_t i = 0; i < comm.size; ++i) acts |= plan_.node_of(comm.member(i)) == slowdown.number;
      if (acts) factor *= slowdown.factor;
    }
    return factor;
  }

  void meet(const Comm& comm, std::uint32_t step, std::uint32_t unit) {
    test::SimRandom& random = random_[comm.member(0)];
    const StepUnit& program = course_.units_[unit];
    CourseInstance instance{step, unit, comm};
    for (std::uint32_t i = 0; i < comm.size; ++i) {
      instance.last_ns = std::max(instance.last_ns, segment(comm.member(i), step, unit).arrival_ns);
    }
    const bool is_between_nodes = plan_.node_of(comm.member(0)) != plan_.node_of(comm.member(comm.size - 1));
    const double bytes = ring_bytes(program, comm.size);
    double length_ns = bytes / kNodeBytesANs;
    double factor = 1;
    if (is_between_nodes) {
      // All rails go at once over the same ports.
      const double rings = comm.kind == CommKind::kRail ? plan_.ranks_per_node : 1;
      length_ns = bytes * rings / (kPortsOfNode * kPortBytesANs);
      factor = transfer_factor(comm, step);
      instance.node_bytes = static_cast<std::uint64_t>(bytes);
    }
    double noise = 1 + random.uniform(-kTransferNoise, kTransferNoise);
    if (random.chance(kOddChance)) noise *= kOddFactor;
    length_ns = (length_ns + static_cast<double>(kLatencyNs)) * noise;
    instance.transfer_ns = static_cast<std::int64_t>(length_ns * factor);
    instance.excess_ns = static_cast<std::int64_t>(length_ns * (factor - 1));
    for (std::uint32_t i = 0; i < comm.size; ++i) {
      const std::uint32_t rank = comm.member(i);
      Segment& own = segment(rank, step, unit);
      const double exit_ns = random_[rank].uniform(0, static_cast<double>(kExitNs));
      own.end_ns = instance.last_ns + instance.transfer_ns + static_cast<std::int64_t>(exit_ns);
      free_ns_[rank] = own.end_ns;
    }
    course_.instances_.push_back(instance);
  }

  const RunPlan& plan_;
  const TrainingPlan& training_;
  TrainingCourse& course_;
  std::vector<std::int64_t> free_ns_;    // by rank
  std::vector<test::SimRandom> random_;  // by rank
};

TrainingCourse::TrainingCourse(const RunPlan& plan, const KernelMix& mix)
    : units_(training_step(plan, mix)),
      steps_(plan.steps),
      segments_(std::size_t{plan.processes} * plan.steps * units_.size()) {
  Play(plan, this).play();
}

const Segment& TrainingCourse::segment(std::uint32_t rank, std::uint32_t step, std::size_t unit) const {
  return segments_[(std::size_t{rank} * steps_ + step) * units_.size() + unit];
}

std::int64_t TrainingCourse::begin_ns() const {
  return kBeginNs;
}

}  // namespace jaxprof::synthetic
