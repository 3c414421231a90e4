// What it costs to turn CUPTI's records into a spool. The buffers hold kernels as a training job has them: a few
// hundred names and launch configurations, one busy stream and a few others, launches numbered among millions, a third
// of them out of CUDA graphs. The limit is NVIDIA's own walk over the same buffers (cuptiActivityGetNextRecord), doing
// nothing with the records; here they are walked, encoded, checksummed and written to a file, and the buffers cleared
// again.
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
constexpr int kBatches = 1;
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

// Full buffers of records as long as `stride`.
std::vector<std::vector<std::uint8_t>> make_buffers(Job* job, std::size_t stride) {
  std::vector<std::vector<std::uint8_t>> buffers(kBuffers);
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
    pool_.open(kBuffers * BufferPool::kBufferBytes, true);
    encoder_->open(library.functions.get_callback_name, &spans_);
    filler_.open(&pool_, &strides_, encoder_.get(), &walker_);
  }

  std::size_t stride() const { return strides_.of(cupti::abi::kConcurrentKernel); }

  bool create() {
    unlink(path_.c_str());
    writer_ = std::make_unique<spool::SpoolWriter>();
    return writer_->create(path_.c_str(), 1);
  }

  double walk(std::vector<std::vector<std::uint8_t>>& buffers) {
    return seconds_of([&] {
      for (std::vector<std::uint8_t>& buffer : buffers) {
        for (void* record = nullptr;
             walker_.next_record(buffer.data(), buffer.size(), &record) == cupti::abi::kSuccess;) {
          ++records_;
        }
      }
    });
  }

  double record(const std::vector<std::vector<std::uint8_t>>& buffers) {
    for (const std::vector<std::uint8_t>& buffer : buffers) {
      std::size_t bytes = 0;
      std::uint8_t* taken = pool_.take(&bytes);
      std::memcpy(taken, buffer.data(), buffer.size());
      pool_.give(taken, buffer.size());
    }
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
  std::string path_;
  cupti::Subscriber walker_;
  cupti::Strides strides_;
  BufferPool pool_;
  cupti::KeptSpans spans_;
  std::unique_ptr<cupti::ActivityEncoder> encoder_ = std::make_unique<cupti::ActivityEncoder>();
  cupti::BlockFiller filler_;
  std::vector<std::uint8_t> block_ = std::vector<std::uint8_t>(spool::SpoolWriter::kHeadroom + kPayloadBytes);
  std::uint64_t records_ = 0;
  std::uint64_t events_ = 0;
  std::unique_ptr<spool::SpoolWriter> writer_;
};

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
    double walk = 0;
    double record = 0;
    for (int batch = 0; batch < kBatches; ++batch) {
      std::vector<std::vector<std::uint8_t>> buffers = make_buffers(&job, bench.stride());
      walk += bench.walk(buffers);
      record += bench.record(buffers);
    }
    walk_s = std::min(walk_s, walk);
    record_s = std::min(record_s, record);
    spool_bytes += bench.bytes();
  }
  if (bench.events() != bench.records() || bench.records() == 0) {
    std::fprintf(stderr, "cupti_bench: %llu records became %llu events\n",
                 static_cast<unsigned long long>(bench.records()), static_cast<unsigned long long>(bench.events()));
    return 1;
  }
  const double all = static_cast<double>(bench.records());
  const double records = all / kRounds;
  print("cupti.walk_ns", walk_s / records * 1e9, "ns a record, by cuptiActivityGetNextRecord alone");
  print("cupti.record_ns", record_s / records * 1e9, "ns a record, from buffer to spool");
  print("cupti.record_to_walk", walk_s / record_s, "of the rate of the walk alone");
  print("cupti.kernel_bytes", static_cast<double>(spool_bytes) / all, "bytes of spool a kernel");
  return 0;
}
