// The engine of one stream: a thread that runs what was queued, in order, each operation not before the one ahead of it
// ended. A kernel with a body takes as long as the body; others take the time that the switches say, and the thread
// sleeps it through, so that what the host sees of a synchronisation is as long as what CUPTI records.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "tests/doubles/cuda/operation.h"

namespace jaxprof::fake_cuda {

// What becomes of an operation that has ended; on the stream's thread.
using OperationEnded = void (*)(OperationPtr operation);

class StreamQueue {
 public:
  explicit StreamQueue(OperationEnded ended) : ended_(ended) {}
  void add(OperationPtr operation);
  // Waits until all that was queued before has ended.
  void synchronize();
  bool is_idle();

 private:
  void run();
  void execute(Operation& operation);

  const OperationEnded ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<OperationPtr> queue_;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;
  bool is_running_ = false;
  std::int64_t free_raw_ns_ = 0;  // the stream's thread only
};

}  // namespace jaxprof::fake_cuda
