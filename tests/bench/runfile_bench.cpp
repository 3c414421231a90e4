// How fast a run file is written and read, and how large it is. Values look like a trace: starts that ascend, lengths
// that scatter, few distinct names. The limit is the same work without HDF5: shuffle and deflate of the same columns
// on as many threads, measured in the same run; the ratio to it is what is left to gain in the writer.
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
#include "merge/runfile/column_writer.h"
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

RunTables trace_of(std::size_t n_rows) {
  RunTables run;
  std::mt19937_64 random{1};
  add_row(run.nodes);
  run.nodes.node[0] = 0;
  add_row(run.processes);
  run.processes.process[0] = 0;
  add_row(run.comms);
  run.comms.comm[0] = 0;
  run.comms.n_ranks[0] = 1;
  run.comm_member_offset = {0, 0};
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
  run.nvtx_process_offset = {0, 0};
  run.step_process_offset = {0, 0};
  fill_empty_offsets(run);
  return run;
}

// Every chunk of every column, as bytes in memory.
struct Piece {
  std::span<const std::byte> bytes;
  std::size_t element_bytes;
};
std::vector<Piece> pieces_of(const NcclTable& table) {
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

int bench(std::size_t n_rows, const std::string& path) {
  const RunTables run = trace_of(n_rows);
  const auto pieces = pieces_of(run.nccl);
  const unsigned n_threads = std::max(1U, std::thread::hardware_concurrency());
  const double limit_s = seconds_of([&] { encode_all(pieces, n_threads); });
  Result<WrittenFile> written;
  const double write_s =
      seconds_of([&] { written = write_run_file(run, path, {.may_replace = true, .n_threads = n_threads}); });
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 5;
  Result<RunTables> read;
  const double read_s = seconds_of([&] {
    read = RunFileReader::open(path).and_then([](const RunFileReader& reader) { return reader.read_all(); });
  });
  ::unlink(path.c_str());
  if (!read || read->nccl.start_ns != run.nccl.start_ns) return std::fprintf(stderr, "read back something else\n"), 3;
  const auto rows = static_cast<double>(n_rows);
  std::printf("runfile.write %.2f M rows/s\n", rows / write_s / 1e6);
  std::printf("runfile.read %.2f M rows/s\n", rows / read_s / 1e6);
  std::printf("runfile.size %.2f bytes/row\n", static_cast<double>(written->size_bytes) / rows);
  std::printf("runfile.write_to_limit %.2f ratio (encoding alone: %.2f M rows/s on %u threads)\n", limit_s / write_s,
              rows / limit_s / 1e6, n_threads);
  return 0;
}

}  // namespace
}  // namespace jaxprof::runfile

int main(int argc, char** argv) {
  const std::size_t n_rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2'000'000;
  const std::string folder = argc > 2 ? argv[2] : "/tmp";
  return jaxprof::runfile::bench(n_rows, folder + "/runfile_bench." + std::to_string(::getpid()) + ".h5");
}
