// How fast a run file is written and read, and how large it is: of NCCL calls, and of kernels. Values look like a
// trace: starts that ascend, lengths that scatter, few distinct names, and a step that comes again. The limit is the
// same work without a file: shuffle and deflate of the same columns on as many threads, measured in the same run; the
// ratio to it is what is left to gain in the writer.
//
// Usage: runfile_bench [ROWS [FOLDER]]; prints "NAME VALUE UNIT" lines.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "merge/runfile/chunk_encoder.h"
#include "merge/runfile/column_chunks.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {
namespace {

double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One process on one node, alone in its communicator.
RunTables empty_trace() {
  RunTables run;
  add_row(run.nodes);
  run.nodes.node[0] = 0;
  add_row(run.processes);
  run.processes.process[0] = 0;
  add_row(run.comms);
  run.comms.comm[0] = 0;
  run.comms.n_ranks[0] = 1;
  run.comm_member_offset = {0, 0};
  return run;
}

RunTables trace_of_calls(std::size_t n_rows) {
  RunTables run = empty_trace();
  std::mt19937_64 random{1};
  NcclTable& t = run.nccl;
  resize_rows(t, n_rows);
  const StringId api = run.strings.intern("ncclAllReduce");
  std::int64_t now_ns = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    now_ns += 20'000 + static_cast<std::int64_t>(random() % 5'000);
    t.start_ns[i] = now_ns;
    t.enqueue_ns[i] = now_ns + static_cast<std::int64_t>(random() % 1'000);
    t.end_api_ns[i] = now_ns + 5'000 + static_cast<std::int64_t>(random() % 2'000);
    t.comm[i] = 0;
    t.comm_rank[i] = 0;
    t.seq[i] = i;
    t.coll[i] = static_cast<Coll>(random() % 3);
    t.api[i] = api;
    t.dtype[i] = Dtype::kBf16;
    t.redop[i] = Redop::kSum;
    t.algo[i] = Algo::kRing;
    t.proto[i] = Proto::kSimple;
    t.channels[i] = 16;
    t.count[i] = std::uint64_t{1} << (10 + random() % 16);
    t.bytes[i] = t.size_bytes[i] = 2 * t.count[i];
    t.tid[i] = 4711;
    t.src[i] = NcclSource::kNcclPlugin;
  }
  run.nccl_process_offset = {0, n_rows};
  fill_empty_offsets(run);
  return run;
}

// Steps of 5,000 kernels, 300 of them different, on three streams. Times have the 32 ns that GPUs count in.
RunTables trace_of_kernels(std::size_t n_rows) {
  constexpr std::size_t kKernels = 300;
  constexpr std::size_t kStep = 5'000;
  RunTables run = empty_trace();
  std::mt19937_64 random{1};
  const std::size_t device = add_row(run.devices);
  run.devices.device[device] = 0;
  std::vector<std::uint64_t> dur_ns(kKernels);
  for (auto& ns : dur_ns) ns = 1'500 + random() % 200'000;
  struct Launch {
    std::size_t kernel;
    std::uint32_t stream;
  };
  std::vector<Launch> step(kStep);
  for (Launch& launch : step) {
    launch.kernel = random() % 4 > 0 ? random() % 40 : random() % kKernels;
    launch.stream = random() % 10 > 0 ? 7U : 13U;
  }
  for (std::size_t kernel = 0; kernel < kKernels; ++kernel) {
    run.strings.intern("kernel " + std::to_string(kernel));
    add_row(run.launch_configs);
  }
  KernelTable& t = run.kernels;
  resize_rows(t, n_rows);
  resize_rows(run.api, n_rows);
  std::uint64_t now_ns = 1'000'000;
  std::uint64_t correlation = 1'000;
  std::uint64_t api = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const auto [kernel, stream] = step[i % kStep];
    const std::uint64_t length_ns = dur_ns[kernel] * (990 + random() % 20) / 1000 / 32 * 32;
    t.start_ns[i] = static_cast<std::int64_t>(now_ns);
    t.dur_ns[i] = static_cast<std::int64_t>(length_ns);
    t.name[i] = static_cast<StringId>(1 + kernel);
    t.device[i] = 0;
    t.context[i] = 1;
    t.stream[i] = stream;
    t.correlation[i] = correlation += 1 + random() % 3;
    t.api[i] = api = std::min<std::uint64_t>(api + 1 + (random() % 3 == 0), n_rows - 1);
    t.launch_config[i] = static_cast<std::uint32_t>(kernel);
    t.channel[i] = stream + 1;
    now_ns += length_ns + 600 + random() % 2'000 / 32 * 32;
  }
  run.kernel_process_offset = {0, n_rows};
  run.api_process_offset = {0, n_rows};
  fill_empty_offsets(run);
  return run;
}

// Every chunk of every column, as bytes in memory.
struct Piece {
  std::span<const std::byte> bytes;
  std::size_t element_bytes;
};
std::vector<Piece> pieces_of(const auto& table) {
  std::vector<Piece> pieces;
  for_each_column(table, [&pieces]<typename T>(const ColumnSpec<T>&, const std::vector<T>& column) {
    for (std::size_t first = 0; first < column.size(); first += kChunkRows) {
      const std::size_t n = std::min(kChunkRows, column.size() - first);
      pieces.push_back({std::as_bytes(std::span(column).subspan(first, n)), sizeof(T)});
    }
  });
  return pieces;
}

void encode_all(const std::vector<Piece>& pieces, unsigned n_threads) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < n_threads; ++i) {
    threads.emplace_back([&] {
      ChunkEncoder encoder;
      for (std::size_t at = next++; at < pieces.size(); at = next++) {
        (void)encoder.encode(pieces[at].bytes, pieces[at].element_bytes);
      }
    });
  }
}

// Prints figures that begin with `name`; false, with a message, if something failed.
template <typename Table>
bool bench(const std::string& name, const RunTables& run, Table EventTables::*table, const std::string& path) {
  const auto pieces = pieces_of(run.*table);
  const auto rows = static_cast<double>(n_rows(run.*table));
  const unsigned n_threads = std::max(1U, std::thread::hardware_concurrency());
  const double limit_s = seconds_of([&] { encode_all(pieces, n_threads); });
  Result<WrittenFile> written;
  const double write_s =
      seconds_of([&] { written = write_run_file(run, path, {.may_replace = true, .n_threads = n_threads}); });
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), false;
  Result<RunTables> read;
  const double read_s = seconds_of([&] {
    read = RunFileReader::open(path).and_then([](const RunFileReader& reader) { return reader.read_all(); });
  });
  ::unlink(path.c_str());
  if (!read || ((*read).*table).start_ns != (run.*table).start_ns) {
    return std::fprintf(stderr, "%s: read back something else\n", name.c_str()), false;
  }
  std::printf("%s.write %.2f M rows/s\n", name.c_str(), rows / write_s / 1e6);
  std::printf("%s.read %.2f M rows/s\n", name.c_str(), rows / read_s / 1e6);
  std::printf("%s.size %.2f bytes/row\n", name.c_str(), static_cast<double>(written->size_bytes) / rows);
  std::printf("%s.write_to_limit %.2f ratio (encoding alone: %.2f M rows/s on %u threads)\n", name.c_str(),
              limit_s / write_s, rows / limit_s / 1e6, n_threads);
  return true;
}

}  // namespace
}  // namespace jaxprof::runfile

int main(int argc, char** argv) {
  using namespace jaxprof::runfile;
  const std::size_t n_rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2'000'000;
  const std::string folder = argc > 2 ? argv[2] : "/tmp";
  const std::string path = folder + "/runfile_bench." + std::to_string(::getpid()) + ".h5";
  const bool is_done = bench("runfile", trace_of_calls(n_rows), &RunTables::nccl, path) &&
                       bench("runfile.kernels", trace_of_kernels(n_rows), &RunTables::kernels, path);
  return is_done ? 0 : 5;
}
