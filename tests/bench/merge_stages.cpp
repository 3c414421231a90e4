// Where a merge's processor time goes, on one thread and stage by stage: what each adds to the one before. The stages
// are the merge's own functions; only the writing of the file is left out, which merge_scale_bench.py takes from the
// program itself.
//
//   decode    every spool opened twice, as the merge does, its blocks proved and all events decoded
//   parts     the rows of each process: clocks, ranges, calls and the kernels that carried them out
//   match     rows numbered, calls sorted and matched over processes
//   encode    columns shuffled and deflated, chunk by chunk
//
// Usage: merge_stages DIRECTORY; prints "NAME VALUE UNIT" lines.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "merge/assembly/assemble_run.h"
#include "merge/assembly/process_part.h"
#include "merge/runfile/chunk_encoder.h"
#include "merge/runfile/column_chunks.h"
#include "merge/runfile/schema.h"

namespace jaxprof {
namespace {

constexpr int kTimes = 3;  // the best of each counts: other work on the machine disturbs them

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Encodes what comes, or throws it away.
class EncodingSink final : public assembly::EventSink {
 public:
  explicit EncodingSink(bool is_encoding) : is_encoding_(is_encoding) {}

  Status append(const runfile::EventTables& rows) override {
    std::size_t number = 0;
    runfile::for_each_event_table(rows, [&](const auto& table) {
      runfile::for_each_column(table, [&](const auto&, const auto& column) { add(number++, column); });
    });
    return {};
  }
  Status append_encoded(const runfile::EncodedPart&) override { return {}; }
  Status append_instances(std::span<const std::uint64_t> rows) override { return add(kInstances, rows); }
  Status append_transfers(std::span<const std::uint64_t> rows) override { return add(kTransfers, rows); }
  Status append_member_ends(std::span<const std::uint64_t> positions) override { return add(kMemberEnds, positions); }
  Status append_counters(const runfile::CounterTable&) override { return {}; }  // the runs that are measured have none

  void finish() {
    for (auto& [elements, element_bytes] : columns_) encode(&elements, element_bytes);
  }

 private:
  enum : std::size_t { kInstances = 400, kTransfers, kMemberEnds, kMostColumns };  // behind those of tables

  template <typename Column>
  Status add(std::size_t number, const Column& column) {
    if (!is_encoding_) return {};
    const auto bytes = std::as_bytes(std::span(column));
    auto& [elements, element_bytes] = columns_[number];
    element_bytes = sizeof column[0];
    elements.insert(elements.end(), bytes.begin(), bytes.end());
    if (elements.size() >= runfile::kChunkRows * element_bytes) encode(&elements, element_bytes);
    return {};
  }
  void encode(runfile::Bytes* elements, std::size_t element_bytes) {
    if (!elements->empty()) encoder_.encode(*elements, element_bytes);
    elements->clear();
  }

  const bool is_encoding_;
  runfile::ChunkEncoder encoder_;
  std::vector<std::pair<runfile::Bytes, std::size_t>> columns_{kMostColumns};  // and the length of an element
};

void decode(const rundir::FoundRun& run) {
  for (const std::string& path : run.spools) {
    for (const bool is_summary : {true, false}) {
      const auto trace = rundir::SpoolTrace::load(path);
      if (!trace || is_summary) continue;
      trace->for_each_event([](std::uint32_t, const spool::Event&) {});
      trace->for_each_activity([](const spool::Event&) {});
    }
  }
}

void read_parts(rundir::FoundRun run) {
  const assembly::RunSources sources = assembly::open_sources(std::move(run));
  for (std::size_t process = 0; process < sources.processes.size(); ++process) {
    (void)assembly::read_process(sources, process);
  }
}

bool assemble(rundir::FoundRun run, EncodingSink* sink) {
  assembly::Room room;
  room.n_threads = 1;
  const bool is_done = assembly::assemble_run(std::move(run), room, sink).has_value();
  sink->finish();
  return is_done;
}

// Seconds of processor time from the begin to the end of each stage, all stages before it included.
struct Seconds {
  double decode = 0;
  double parts = 0;
  double match = 0;
  double encode = 0;
};

template <typename Stage>
double seconds_of(const Stage& stage) {
  const double began_s = cpu_s();
  stage();
  return cpu_s() - began_s;
}

int run(const std::string& directory) {
  auto found = rundir::read_run_directory(directory);
  if (!found || found->runs.size() != 1) {
    std::fprintf(stderr, "merge_stages: %s is no folder of one run\n", directory.c_str());
    return 1;
  }
  const rundir::FoundRun& run = found->runs.front();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  Seconds best{kNever, kNever, kNever, kNever};
  bool is_whole = true;
  for (int time = 0; time < kTimes; ++time) {
    best.decode = std::min(best.decode, seconds_of([&] { decode(run); }));
    best.parts = std::min(best.parts, seconds_of([&] { read_parts(run); }));
    EncodingSink nowhere(false);
    best.match = std::min(best.match, seconds_of([&] { is_whole = assemble(run, &nowhere) && is_whole; }));
    EncodingSink encoder(true);
    best.encode = std::min(best.encode, seconds_of([&] { is_whole = assemble(run, &encoder) && is_whole; }));
  }
  std::printf("stages.decode_cpu_s %.4f s\n", best.decode);
  std::printf("stages.parts_cpu_s %.4f s\n", std::max(0.0, best.parts - best.decode));
  std::printf("stages.match_cpu_s %.4f s\n", std::max(0.0, best.match - best.parts));
  std::printf("stages.encode_cpu_s %.4f s\n", std::max(0.0, best.encode - best.match));
  std::printf("stages.all_cpu_s %.4f s\n", best.encode);
  if (is_whole) return 0;
  std::fprintf(stderr, "merge_stages: %s cannot be merged\n", directory.c_str());
  return 1;
}

}  // namespace
}  // namespace jaxprof

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: merge_stages DIRECTORY\n");
    return 2;
  }
  return jaxprof::run(argv[1]);
}
