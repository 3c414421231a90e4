// What a merge cannot do without, and nothing else: read every spool of a folder and prove its blocks, decode all
// events, and encode the columns of its kernels and NCCL calls that differ from row to row as a run file has them, on
// as many threads as there are processors. No clock, no order, no matching, no file. merge_scale_bench.py compares
// jaxprof-merge with it, on the same run.
//
// Usage: merge_limit DIRECTORY [THREADS]; prints "NAME VALUE UNIT" lines.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "agent/contract/run_layout.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/spool_reader.h"
#include "merge/runfile/chunk_encoder.h"

namespace jaxprof {
namespace {

constexpr std::size_t kChunkRows = 131'072;  // of a run file's column

// The columns of one table, of one thread; encoded whenever they fill a chunk.
template <std::size_t kWide, std::size_t kNarrow>
class Columns {
 public:
  void add(const std::array<std::uint64_t, kWide>& wide, const std::array<std::uint32_t, kNarrow>& narrow) {
    for (std::size_t i = 0; i < kWide; ++i) wide_[i].push_back(wide[i]);
    for (std::size_t i = 0; i < kNarrow; ++i) narrow_[i].push_back(narrow[i]);
    ++rows_;
    if (wide_[0].size() == kChunkRows) encode();
  }
  void encode() {
    for (auto& column : wide_) encode_one(&column);
    for (auto& column : narrow_) encode_one(&column);
  }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  template <typename T>
  void encode_one(std::vector<T>* column) {
    if (!column->empty()) bytes_ += encoder_.encode(std::as_bytes(std::span(*column)), sizeof(T)).size();
    column->clear();
  }

  std::array<std::vector<std::uint64_t>, kWide> wide_;
  std::array<std::vector<std::uint32_t>, kNarrow> narrow_;
  runfile::ChunkEncoder encoder_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
};

struct Work {
  Columns<3, 4> kernels;  // start, length, correlation; name, stream, device, configuration
  Columns<4, 4> calls;    // begin, end, count, number; communicator, words, peer, thread
  std::uint64_t events = 0;

  void take(std::uint32_t thread, const spool::Event& event) {
    ++events;
    const auto& f = event.fields;
    if (event.kind == spool::EventKind::kGpuKernel) {
      kernels.add({event.stamp, f[spool::gpu_field::kDuration], f[spool::gpu_field::kCorrelation]},
                  {event.id, static_cast<std::uint32_t>(f[spool::gpu_field::kLane]), 0,
                   static_cast<std::uint32_t>(f[spool::gpu_field::kKernelConfig])});
    }
    if (event.kind != spool::EventKind::kNcclStart) return;
    const auto type = static_cast<spool::NcclEvent>(event.id);
    if (type != spool::NcclEvent::kColl && type != spool::NcclEvent::kP2p) return;
    calls.add({event.stamp, f[spool::nccl_field::kParent], f[spool::nccl_field::kCollCount],
               f[spool::nccl_field::kCollSequence]},
              {static_cast<std::uint32_t>(f[spool::nccl_field::kCommunicator]),
               static_cast<std::uint32_t>(f[spool::nccl_field::kCollCodes]),
               static_cast<std::uint32_t>(f[spool::nccl_field::kP2pPeer]), thread});
  }

  bool read(const std::string& path) {
    auto reader = spool::SpoolReader::open(path);
    if (!reader) return false;
    for (spool::Block block; reader->next(&block);) {
      if (block.kind != spool::BlockKind::kEvents && block.kind != spool::BlockKind::kActivities) continue;
      spool::EventDecoder decoder(block.payload.data(), block.payload.size());
      for (spool::Event event; decoder.next(&event);) take(decoder.thread(), event);
    }
    return true;
  }
};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int run(const std::string& directory, unsigned n_threads) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (run_layout::is_spool(entry.path().filename())) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next{0};
  std::atomic<bool> is_whole{!paths.empty()};
  std::vector<Work> works(n_threads);
  {
    std::vector<std::jthread> threads;
    for (Work& work : works) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < paths.size(); i = next++) {
          if (!work.read(paths[i])) is_whole = false;
        }
        work.kernels.encode();
        work.calls.encode();
      });
    }
  }
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t events = 0;
  std::uint64_t kernels = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  for (const Work& work : works) {
    events += work.events;
    kernels += work.kernels.rows();
    calls += work.calls.rows();
    bytes += work.kernels.bytes() + work.calls.bytes();
  }
  std::printf("limit.wall_s %.4f s\n", wall_s);
  std::printf("limit.cpu_s %.4f s\n", cpu_seconds());
  std::printf("limit.events %llu\n", static_cast<unsigned long long>(events));
  std::printf("limit.kernels %llu\n", static_cast<unsigned long long>(kernels));
  std::printf("limit.calls %llu\n", static_cast<unsigned long long>(calls));
  std::printf("limit.encoded %llu bytes\n", static_cast<unsigned long long>(bytes));
  if (is_whole) return 0;
  std::fprintf(stderr, "merge_limit: %s holds no spools, or some that cannot be read\n", directory.c_str());
  return 1;
}

}  // namespace
}  // namespace jaxprof

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: merge_limit DIRECTORY [THREADS]\n");
    return 2;
  }
  const unsigned n_threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency();
  return jaxprof::run(argv[1], std::max(1U, n_threads));
}
