// The thread on which CUPTI learns how long an operation took: later than it ended, and, between streams, in another
// order. Real drivers process their profiling buffers so; a profiler that expects records in order of time, or by the
// end of a synchronisation, has to fail here.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

#include "tests/doubles/cuda/operation.h"

namespace jaxprof::fake_cuda {

class Delivery {
 public:
  // `deliver` is called on the delivery thread, which starts with the first operation.
  explicit Delivery(void (*deliver)(Operation& operation)) : deliver_(deliver) {}
  // Takes an operation that has ended. Any thread.
  void add(OperationPtr operation);
  // Waits until all that was added is delivered.
  void settle();

 private:
  struct Due {
    std::int64_t at_raw_ns;
    OperationPtr operation;
  };
  static bool is_later(const Due& left, const Due& right) { return left.at_raw_ns > right.at_raw_ns; }
  void run();

  void (*const deliver_)(Operation&);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Due> due_;  // a heap
  bool is_running_ = false;
  bool is_delivering_ = false;
  std::minstd_rand random_{20261130};
};

}  // namespace jaxprof::fake_cuda
