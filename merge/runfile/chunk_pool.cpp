// Threads that encode chunks; which of two is ready first does not matter to anybody.
#include "merge/runfile/chunk_pool.h"

#include <algorithm>

namespace jaxprof::runfile {

ChunkPool::ChunkPool(ChunkStore& store, Compression compression, unsigned n_threads)
    : store_(store), compression_(compression), max_jobs_(2UL * std::max(1U, n_threads)) {
  for (unsigned i = 0; i < std::max(1U, n_threads); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

ChunkPool::~ChunkPool() {
  for (auto& thread : threads_) thread.request_stop();
}

void ChunkPool::submit(Bytes elements, std::size_t element_bytes, StoredChunk& chunk) {
  std::unique_lock lock(mutex_);
  has_room_.wait(lock, [this] { return jobs_.size() < max_jobs_; });
  jobs_.push_back({std::move(elements), element_bytes, &chunk});
  lock.unlock();
  has_job_.notify_one();
}

Bytes ChunkPool::take_buffer(std::size_t size_bytes) {
  Bytes buffer;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                    [size_bytes](const Bytes& used) { return used.capacity() >= size_bytes; });
    if (found != buffers_.end()) {
      buffer = std::move(*found);
      buffers_.erase(found);
    }
  }
  buffer.reserve(size_bytes);
  return buffer;
}

Status ChunkPool::wait() {
  std::unique_lock lock(mutex_);
  is_idle_.wait(lock, [this] { return jobs_.empty() && jobs_at_work_ == 0; });
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

Status ChunkPool::check() {
  const std::scoped_lock lock(mutex_);
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

void ChunkPool::finish(Job job, Status stored) {
  job.elements.clear();
  const std::scoped_lock lock(mutex_);
  if (!stored && !failure_) failure_ = std::move(stored.error());
  if (buffers_.size() < max_jobs_) buffers_.push_back(std::move(job.elements));
  --jobs_at_work_;
  if (jobs_.empty() && jobs_at_work_ == 0) is_idle_.notify_all();
}

void ChunkPool::work(const std::stop_token& stop) {
  ChunkEncoder encoder{compression_};
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!has_job_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++jobs_at_work_;
    lock.unlock();
    has_room_.notify_one();
    auto stored = store_.put(encoder.encode(job.elements, job.element_bytes), *job.chunk);
    finish(std::move(job), std::move(stored));
  }
}

}  // namespace jaxprof::runfile
