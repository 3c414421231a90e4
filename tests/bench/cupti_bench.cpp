// What it costs to turn CUPTI's records into a spool. The buffers hold kernels as a training job has them: a few
// hundred names and launch configurations, one busy stream and a few others, launches numbered among millions, a third
// of them out of CUDA graphs. The limit is NVIDIA's own walk over the same buffers (cuptiActivityGetNextRecord), doing
// nothing with the records; here they are walked, encoded, checksummed and written to a file, and the buffers cleared
// again.
//
// The walk reads one cache line of each record and waits for it; here all lines are read, but ahead of their use. So
// the ratio depends on where they are. In a job another thread has written them, up to a second before.
// cupti.record_to_walk is of buffers that were filled some milliseconds ago and are in part out of the cache. The same
// is told of a few buffers that are all in it (the walk's best case), and of so many that none is.
//
// Usage: cupti_bench [FOLDER]; prints "NAME VALUE UNIT" lines. Exit status 77 if there is no libcupti that walks.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "agent/cupti/block_filler.h"
#include "agent/spool/spool_writer.h"
#include "tests/unit/cupti/real_cupti.h"
#include "tests/unit/cupti/record_buffer.h"

namespace {

using namespace jaxprof;
using cupti::BufferPool;

constexpr std::size_t kBuffers = 64;
constexpr std::size_t kCachedBuffers = 3;  // of 256 KiB
constexpr std::size_t kUncachedBuffers = 1024;
constexpr int kRounds = 5;
constexpr std::size_t kPayloadBytes = 256 << 10;  // as agent/collect writes them

// Of the processor, not of the clock: both sides are one thread's work, and others may have the machine meanwhile.
double seconds_of(auto&& work) {
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

// The kernels of a training job, in the order in which CUPTI would complete them.
class Job {
 public:
  Job() {
    for (int i = 0; i < 240; ++i) {
      names_.push_back("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_" + std::to_string(i) + ">");
    }
  }

  CUpti_ActivityKernel13 next() {
    // A few kernels make most of the launches.
    const auto which = static_cast<std::size_t>(std::exponential_distribution<>(1.0 / 40)(random_)) % names_.size();
    const bool is_graph = position_++ % 3000 >= 2000;
    const auto duration_ns = static_cast<std::uint64_t>(std::lognormal_distribution<>(9.5, 1.2)(random_));
    const bool is_side = random_() % 10 == 0;
    const std::uint64_t begin_ns = is_side ? now_ns_ - random_() % 20'000 : now_ns_;
    CUpti_ActivityKernel13 kernel =
        test::make_kernel<CUpti_ActivityKernel13>(names_[which].c_str(), begin_ns, begin_ns + duration_ns, 0);
    kernel.deviceId = 0;
    kernel.contextId = 1;
    kernel.streamId = is_side ? 20 + static_cast<std::uint32_t>(random_() % 4) : 13;
    kernel.gridX = static_cast<int>(1 + which * 7 % 61);
    kernel.blockX = 128 << which % 3;
    kernel.channelID = is_side ? 12 : 8;
    if (is_graph) {
      kernel.graphId = 9;
      kernel.graphNodeId = (9ULL << 32) | (position_ % 3000);
    } else {
      kernel.graphId = 0;
      kernel.graphNodeId = 0;
      correlation_ += 1 + static_cast<std::uint32_t>(random_() % 3);  // other calls are numbered too
    }
    kernel.correlationId = correlation_;
    if (!is_side) now_ns_ += duration_ns + 800 + random_() % 3000;
    return kernel;
  }

 private:
  std::mt19937 random_{20261130};
  std::vector<std::string> names_;
  std::uint64_t position_ = 0;
  std::uint64_t now_ns_ = 1'790'000'000'000'000'000;
  std::uint32_t correlation_ = 3'000'000;
};

using Buffers = std::vector<std::vector<std::uint8_t>>;

// Full buffers of records as long as `stride`.
Buffers make_buffers(Job* job, std::size_t stride) {
  Buffers buffers(kBuffers);
  for (std::vector<std::uint8_t>& buffer : buffers) {
    buffer.resize(BufferPool::kBufferBytes / stride * stride);
    for (std::size_t at = 0; at < buffer.size(); at += stride) {
      const CUpti_ActivityKernel13 kernel = job->next();
      std::memcpy(buffer.data() + at, &kernel, std::min(stride, sizeof kernel));
    }
  }
  return buffers;
}

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %10.3f %s\n", name, value, unit);
}

class Bench {
 public:
  Bench(const cupti::Library& library, std::string path) : path_(std::move(path)) {
    test::make_walker(library, &walker_);
    strides_.probe(&walker_);
    pool_.open(kUncachedBuffers * BufferPool::kBufferBytes, true);
    encoder_->open(library.functions.get_callback_name, &spans_);
    filler_.open(&pool_, &strides_, encoder_.get(), &walker_);
  }

  std::size_t stride() const { return strides_.of(cupti::abi::kConcurrentKernel); }

  bool create() {
    unlink(path_.c_str());
    writer_ = std::make_unique<spool::SpoolWriter>();
    return writer_->create(path_.c_str(), 1);
  }

  // Seconds of CUPTI's walk over `buffers`, or over those of the pool that have been filled.
  double walk(Buffers& buffers) {
    return seconds_of([&] {
      for (std::vector<std::uint8_t>& buffer : buffers) walk(buffer.data(), buffer.size());
    });
  }
  double walk_filled() {
    return seconds_of([&] {
      for (std::uint8_t* buffer : filled_) walk(buffer, filled_bytes_);
    });
  }

  // Copies `buffers` into so many of the pool.
  void fill(const Buffers& buffers, std::size_t count) {
    filled_bytes_ = buffers.front().size();
    while (filled_.size() < count) {
      std::size_t bytes = 0;
      filled_.push_back(pool_.take(&bytes));
    }
    for (std::size_t i = 0; i < count; ++i) std::memcpy(filled_[i], buffers[i % buffers.size()].data(), filled_bytes_);
  }

  // Seconds for all that has been filled, which is clear then.
  double record_filled() {
    for (std::uint8_t* buffer : filled_) pool_.give(buffer, filled_bytes_);
    filled_.clear();
    return seconds_of([&] {
      std::uint64_t count = 0;
      while (const std::size_t bytes =
                 filler_.fill(block_.data() + spool::SpoolWriter::kHeadroom, kPayloadBytes, &count)) {
        writer_->write_block(spool::BlockKind::kActivities, block_.data(), bytes);
        events_ += count;
      }
    });
  }

  std::uint64_t records() const { return records_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t bytes() const { return writer_->bytes(); }

 private:
  void walk(std::uint8_t* buffer, std::size_t bytes) {
    for (void* record = nullptr; walker_.next_record(buffer, bytes, &record) == cupti::abi::kSuccess;) ++records_;
  }

  std::string path_;
  cupti::Subscriber walker_;
  cupti::Strides strides_;
  BufferPool pool_;
  cupti::KeptSpans spans_;
  std::unique_ptr<cupti::ActivityEncoder> encoder_ = std::make_unique<cupti::ActivityEncoder>();
  cupti::BlockFiller filler_;
  std::vector<std::uint8_t> block_ = std::vector<std::uint8_t>(spool::SpoolWriter::kHeadroom + kPayloadBytes);
  std::vector<std::uint8_t*> filled_;
  std::size_t filled_bytes_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t events_ = 0;
  std::unique_ptr<spool::SpoolWriter> writer_;
};

// Both over the same buffers of the pool, each time just filled. False with errno.
bool print_in_place(const std::string& where, Bench* bench, const Buffers& buffers, std::size_t count, int rounds) {
  double walk_s = 1e9;
  double record_s = 1e9;
  const std::uint64_t records_before = bench->records();
  for (int round = 0; round < rounds; ++round) {
    if (!bench->create()) return false;
    bench->fill(buffers, count);
    walk_s = std::min(walk_s, bench->walk_filled());
    bench->fill(buffers, count);
    record_s = std::min(record_s, bench->record_filled());
  }
  const double records = static_cast<double>(bench->records() - records_before) / rounds;
  print(("cupti." + where + "_walk_ns").c_str(), walk_s / records * 1e9, "ns a record");
  print(("cupti." + where + "_record_ns").c_str(), record_s / records * 1e9, "ns a record");
  print(("cupti." + where + "_record_to_walk").c_str(), walk_s / record_s, "of the rate of the walk alone");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  const cupti::Library* library = test::real_cupti(13, &why);
  if (library == nullptr) {
    std::fprintf(stderr, "cupti_bench: %s\n", why.c_str());
    return 77;
  }
  Bench bench(*library, std::string(argc > 1 ? argv[1] : "/tmp") + "/cupti_bench.jxspool");
  Job job;
  double walk_s = 1e9;
  double record_s = 1e9;
  std::uint64_t spool_bytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (!bench.create()) {
      std::perror("cupti_bench: cannot make a spool");
      return 1;
    }
    Buffers buffers = make_buffers(&job, bench.stride());
    walk_s = std::min(walk_s, bench.walk(buffers));
    bench.fill(buffers, kBuffers);
    record_s = std::min(record_s, bench.record_filled());
    spool_bytes += bench.bytes();
  }
  const double all = static_cast<double>(bench.records());
  const double records = all / kRounds;
  print("cupti.walk_ns", walk_s / records * 1e9, "ns a record, by cuptiActivityGetNextRecord alone");
  print("cupti.record_ns", record_s / records * 1e9, "ns a record, from buffer to spool");
  print("cupti.record_to_walk", walk_s / record_s, "of the rate of the walk alone");
  print("cupti.kernel_bytes", static_cast<double>(spool_bytes) / all, "bytes of spool a kernel");
  const Buffers buffers = make_buffers(&job, bench.stride());
  if (!print_in_place("cached", &bench, buffers, kCachedBuffers, 100) ||
      !print_in_place("uncached", &bench, buffers, kUncachedBuffers, 3)) {
    std::perror("cupti_bench: cannot make a spool");
    return 1;
  }
  if (bench.events() != bench.records() || bench.records() == 0) {
    std::fprintf(stderr, "cupti_bench: %llu records became %llu events\n",
                 static_cast<unsigned long long>(bench.records()), static_cast<unsigned long long>(bench.events()));
    return 1;
  }
  return 0;
}
