// The threads take chunk after chunk from one counter.
#include "merge/runfile/column_loads.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "merge/runfile/chunk_cursor.h"

namespace jaxprof::runfile {
namespace {

// Fewer bytes than these are inflated sooner than another thread has started.
constexpr std::size_t kBytesWorthAThread = std::size_t{1} << 20;

}  // namespace

// What the threads share.
class ColumnLoads::Progress {
 public:
  explicit Progress(std::size_t n_chunks) : n_chunks_(n_chunks) {}

  // The next chunk; nothing once all are taken or one has failed.
  std::optional<std::size_t> take() {
    const std::size_t chunk = next_.fetch_add(1);
    return chunk < n_chunks_ ? std::optional(chunk) : std::nullopt;
  }
  void fail_with(Error&& error) {
    next_ = n_chunks_;
    const std::lock_guard lock(mutex_);
    if (status_) status_ = tl::unexpected(std::move(error));
  }
  Status status() { return std::move(status_); }  // once all threads have ended

 private:
  const std::size_t n_chunks_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  Status status_;
};

void ColumnLoads::add(std::string path, ChunkPlaces places, std::span<std::byte> values) {
  for (std::uint64_t row = 0; row < places.rows; row += places.chunk_rows) chunks_.push_back({loads_.size(), row});
  bytes_ += values.size();
  loads_.push_back({std::move(path), std::move(places), values});
}

void ColumnLoads::work(int fd, Progress& progress) const {
  ChunkDecoder decoder;
  std::optional<ChunkCursor> cursor;
  std::size_t cursor_load = loads_.size();
  while (const auto next = progress.take()) {
    const Chunk& chunk = chunks_[*next];
    const Load& load = loads_[chunk.load];
    if (std::exchange(cursor_load, chunk.load) != chunk.load) cursor.emplace(fd, load.places);
    const std::size_t element_bytes = load.places.element_bytes;
    const std::uint64_t n_rows = std::min(load.places.chunk_rows, load.places.rows - chunk.first_row);
    const auto out = load.values.subspan(chunk.first_row * element_bytes, n_rows * element_bytes);
    if (auto read = cursor->read(chunk.first_row, out, decoder); !read) {
      progress.fail_with(std::move(read.error()).wrap("dataset " + load.path));
    }
  }
}

Status ColumnLoads::run(int fd, unsigned n_threads) {
  Progress progress(chunks_.size());
  const std::size_t n_worth = std::min(chunks_.size(), bytes_ / kBytesWorthAThread + 1);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(n_threads, n_worth); ++i) {
      others.emplace_back([&] { work(fd, progress); });
    }
    work(fd, progress);
  }
  return progress.status();
}

}  // namespace jaxprof::runfile
