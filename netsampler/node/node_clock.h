// The clocks that the sample loop lives by, behind an interface so that tests can let an hour pass in no time: the one
// it sleeps by, the one of the spool's stamps, and the processor time that all of it took.
#pragma once

#include <cstdint>

namespace jaxprof::netsampler {

class NodeClock {
 public:
  virtual ~NodeClock() = default;
  virtual std::uint64_t now_ns() = 0;  // CLOCK_MONOTONIC, of deadlines
  virtual std::uint64_t raw_ns() = 0;  // CLOCK_MONOTONIC_RAW, of stamps
  virtual std::uint64_t cpu_ns() = 0;  // of this process so far
  // Returns at `deadline_ns` of now_ns(), or earlier if a signal came.
  virtual void sleep_until(std::uint64_t deadline_ns) = 0;
};

class SystemClock : public NodeClock {
 public:
  std::uint64_t now_ns() override;
  std::uint64_t raw_ns() override;
  std::uint64_t cpu_ns() override;
  void sleep_until(std::uint64_t deadline_ns) override;
};

}  // namespace jaxprof::netsampler
