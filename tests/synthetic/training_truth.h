// What studies have to find in a training job: by step who was slow and why, and how long ranks waited for whom, from
// the job's course. Waits and blame are of the collectives that all members recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/synthetic/truth.h"

namespace jaxprof::synthetic {

struct InjectedCause {
  const char* kind = "";             // of the slowdown
  const char* cause = "";            // compute, host, copy, network, none
  const char* level = "";            // gpu, rank, node, nic, network
  std::vector<std::uint32_t> ranks;  // that it acts on; none for nic and network
  std::int64_t node = -1;            // of level node and nic
  std::int64_t port = -1;            // of level nic
  std::int64_t excess_ns = 0;        // of all its ranks before they arrive, or of the transfers
};

struct TrainingStepTruth {
  std::vector<InjectedCause> injected;  // none: a sound step
  // By rank: how much longer slowdowns made it before it arrived, over the step's units; waited, and was waited for.
  std::vector<std::int64_t> excess_ns;
  std::vector<double> wait_ns;
  std::vector<double> blame_ns;
  std::int64_t transfer_excess_ns = 0;
};

struct TrainingTruth {
  std::vector<TrainingStepTruth> steps;
  std::vector<double> wait_ns;  // by rank, over all steps
  std::vector<double> blame_ns;
};

// `run` has a course.
TrainingTruth training_truth(const Run& run);
// A JSON object.
std::string training_json(const Run& run);

// Collectives and who was late to them, as RunTruth counts them.
void count_training(const Run& run, RunTruth* truth);

}  // namespace jaxprof::synthetic
