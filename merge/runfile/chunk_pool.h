// Encoding is nine tenths of the cost of writing a run file, and chunks are independent. A few threads encode them;
// HDF5 is called only by the thread that writes. Memory is bounded: `submit` waits while too many chunks are pending.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "merge/runfile/chunk_encoder.h"

namespace jaxprof::runfile {

class ChunkPool {
 public:
  // At least one thread.
  explicit ChunkPool(unsigned n_threads);
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  // Queues the elements of one chunk. Any thread; waits while 2 chunks a thread are queued.
  std::future<Bytes> submit(Bytes elements, std::size_t element_bytes);

 private:
  struct Job {
    Bytes elements;
    std::size_t element_bytes;
    std::promise<Bytes> done;
  };
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any has_job_;
  std::condition_variable has_room_;
  std::deque<Job> jobs_;
  std::size_t max_jobs_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace jaxprof::runfile
