// The job's own NVTX range around each iteration: "step" in domain "puppet", with the iteration as int64 payload.
#pragma once

#include <cstdint>

namespace jaxprof::puppets {

class StepRange {
 public:
  // Without `is_enabled` nothing is emitted.
  StepRange(bool is_enabled, std::int64_t iteration);
  ~StepRange();
  StepRange(const StepRange&) = delete;
  StepRange& operator=(const StepRange&) = delete;

 private:
  const bool is_enabled_;
};

}  // namespace jaxprof::puppets
