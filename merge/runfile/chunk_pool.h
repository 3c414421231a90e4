// Encoding is nine tenths of the cost of writing a run file, and chunks are independent. A few threads encode them and
// put them into the store. Memory is bounded: `submit` waits while too many chunks are pending.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "merge/runfile/chunk_store.h"

namespace jaxprof::runfile {

// All functions for the one thread that submits.
class ChunkPool {
 public:
  // At least one thread. `store` outlives the pool.
  ChunkPool(ChunkStore& store, Compression compression, unsigned n_threads);
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  ChunkStore& store() { return store_; }
  Compression compression() const { return compression_; }

  // Queues the elements of one chunk; waits while 2 chunks a thread are queued. `chunk` is filled by wait(), and stays
  // where it is until then.
  void submit(Bytes elements, std::size_t element_bytes, StoredChunk& chunk);
  // An empty buffer with room for `size_bytes`, if possible one that has been used.
  Bytes take_buffer(std::size_t size_bytes);
  // Until all chunks are in the store. The first failure to put one there.
  Status wait();
  // That failure, if there was one by now.
  Status check();

 private:
  struct Job {
    Bytes elements;
    std::size_t element_bytes;
    StoredChunk* chunk;
  };
  void work(const std::stop_token& stop);
  void finish(Job job, Status stored);

  ChunkStore& store_;
  Compression compression_;
  std::mutex mutex_;
  std::condition_variable_any has_job_;
  std::condition_variable has_room_;
  std::condition_variable is_idle_;
  std::deque<Job> jobs_;
  std::size_t jobs_at_work_ = 0;
  std::size_t max_jobs_;
  std::vector<Bytes> buffers_;  // to be used again: asking the system for memory costs as much as copying it
  std::optional<Error> failure_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace jaxprof::runfile
