// Threads that encode chunks in the order in which they were submitted.
#include "merge/runfile/chunk_pool.h"

#include <algorithm>

namespace jaxprof::runfile {

ChunkPool::ChunkPool(unsigned n_threads) : max_jobs_(2UL * std::max(1U, n_threads)) {
  for (unsigned i = 0; i < std::max(1U, n_threads); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

ChunkPool::~ChunkPool() {
  for (auto& thread : threads_) thread.request_stop();
}

std::future<Bytes> ChunkPool::submit(Bytes elements, std::size_t element_bytes) {
  std::unique_lock lock(mutex_);
  has_room_.wait(lock, [this] { return jobs_.size() < max_jobs_; });
  jobs_.push_back({std::move(elements), element_bytes, {}});
  auto done = jobs_.back().done.get_future();
  lock.unlock();
  has_job_.notify_one();
  return done;
}

void ChunkPool::work(const std::stop_token& stop) {
  ChunkEncoder encoder;
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!has_job_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    has_room_.notify_one();
    job.done.set_value(encoder.encode(job.elements, job.element_bytes));
  }
}

}  // namespace jaxprof::runfile
