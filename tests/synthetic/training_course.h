// What happened in a training job: for every rank and unit of every step, when its copies and kernels ran, when it came
// to the collective and when that ended. Ranks wait for each other, so that the course is worked out for all of them
// together, before anything is written.
//
// Times are ns since the run's zero, of a perfect clock.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/synthetic/training_step.h"

namespace jaxprof::synthetic {

// A piece of work of a GPU.
struct CourseWork {
  std::int64_t launch_ns = 0;  // the host calls CUDA
  std::int64_t start_ns = 0;
  std::int64_t length_ns = 0;
  std::int64_t end_ns() const { return start_ns + length_ns; }
};

// What a rank does for one unit. `copies` and `kernels` are those of its StepUnit.
struct Segment {
  std::int64_t begin_ns = 0;  // the GPU is free: what was before has ended
  std::vector<CourseWork> copies;
  std::vector<CourseWork> kernels;
  std::int64_t call_ns = 0;     // the host calls NCCL
  std::int64_t arrival_ns = 0;  // NCCL's kernel starts
  std::int64_t end_ns = 0;
  std::int64_t excess_ns = 0;  // what slowdowns made of it, before it arrives
};

// A collective that was called, of one of the communicators of its kind.
struct CourseInstance {
  std::uint32_t step = 0;
  std::uint32_t unit = 0;
  Comm comm;
  std::int64_t last_ns = 0;      // when all were there
  std::int64_t transfer_ns = 0;  // from then on
  std::int64_t excess_ns = 0;    // of the transfer, by slowdowns
  std::uint64_t node_bytes = 0;  // each of its nodes sends to others; 0: it has only one
};

class TrainingCourse {
 public:
  // `plan` is a training.
  TrainingCourse(const RunPlan& plan, const KernelMix& mix);

  const std::vector<StepUnit>& units() const { return units_; }  // of a step
  std::uint32_t steps() const { return steps_; }
  const Segment& segment(std::uint32_t rank, std::uint32_t step, std::size_t unit) const;
  const std::vector<CourseInstance>& instances() const { return instances_; }  // by step and unit
  std::int64_t begin_ns() const;
  std::int64_t end_ns() const { return end_ns_; }

 private:
  class Play;

  std::vector<StepUnit> units_;
  std::uint32_t steps_;
  std::vector<Segment> segments_;  // by rank, step, unit
  std::vector<CourseInstance> instances_;
  std::int64_t end_ns_ = 0;
};

}  // namespace jaxprof::synthetic
