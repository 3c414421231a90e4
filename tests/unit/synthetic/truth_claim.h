// What a study has to say of runs whose truth is known: a claim is judged run by run, and holds if it is right in some
// share of all that it says, over many seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/synthetic/merged_training.h"

namespace jaxprof::test {

// How often a study was right: once a run, or once a step.
struct Score {
  std::size_t right = 0;
  std::size_t total = 0;
  std::string fault;  // the first one
  void count(bool is_right, const std::string& what) {
    ++total;
    right += is_right ? 1 : 0;
    if (!is_right && fault.empty()) fault = what;
  }
  // Of one statement about the whole run; "" if it is right.
  static Score of_run(const std::string& fault) { return {fault.empty() ? 1U : 0U, 1, fault}; }
};

struct Claim {
  double share;
  const char* what;
  Score (*judge)(const FiledTraining& run);
};

// Seeds 1 to `n_seeds` of that scenario, judged by all claims: a score a claim. Runs in as many child processes as
// there are processors, since HDF5 is for one thread; to be called by a process of one thread.
std::vector<Score> judge_seeds(const std::string& scenario, std::uint64_t n_seeds, const std::vector<Claim>& claims);

}  // namespace jaxprof::test
