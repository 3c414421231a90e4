// How fast a run is put together, from spools to tables. The spools look like a training job's: each of four ranks
// calls AllReduce inside an NVTX step, seen by NVTX and by the NCCL plugin. The limit is decoding the same spools and
// doing nothing with the events, measured in the same run; the ratio to it is what matching and tables cost.
//
// Usage: merge_bench [CALLS_A_RANK [FOLDER]]; prints "NAME VALUE UNIT" lines.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/identity.h"
#include "agent/spool/spool_writer.h"
#include "agent/spool/state_record.h"
#include "merge/assembly/assemble_run.h"
#include "merge/rundir/run_directory.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof {
namespace {

using spool::EventKind;
using spool::NcclEvent;

constexpr int kRanks = 4;
constexpr std::uint64_t kCommHash = 0xfeedface12345678;

// Writes one rank's spool, as its process would have.
class SpoolMaker {
 public:
  SpoolMaker(const std::string& path, int rank) : buffer_(spool::SpoolWriter::kHeadroom + (256 << 10)) {
    writer_.create(path.c_str(), static_cast<std::uint64_t>(rank) + 1);
    spool::IdentityWriter id(payload(), 4096);
    id.text(spool::IdentityKey::kRunId, "bench.0.0");
    id.number(spool::IdentityKey::kRank, rank);
    id.number(spool::IdentityKey::kWorldSize, kRanks);
    id.text(spool::IdentityKey::kHost, "bench");
    id.text(spool::IdentityKey::kBootId, "bench");
    id.number(spool::IdentityKey::kEventClock, static_cast<std::int64_t>(ClockId::kMonotonicRaw));
    writer_.write_block(spool::BlockKind::kIdentity, buffer_.data(), id.size());
    write_anchor(0);
    write_state(rank);
  }

  void write_calls(int calls) {
    for (int i = 0; i < calls; ++i) {
      const std::uint64_t handle = std::uint64_t{1} << 36 | static_cast<std::uint64_t>(i * 3 + 1);
      add(EventKind::kNvtxPush, 2, {spool::pack(spool::NvtxContext{1, 0, 0})});
      const spool::NcclCodes codes{spool::NcclFunction::kAllReduce,
                                   spool::NcclType::kBfloat16,
                                   spool::NcclAlgorithm::kRing,
                                   spool::NcclProtocol::kSimple,
                                   16,
                                   16};
      add(EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kCollApi),
          {handle, 1, 0, spool::pack(codes), 1 << 20, 0, 0xdead, 0});
      add(EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kColl),
          {handle + 1, 1, handle, static_cast<std::uint64_t>(i), spool::pack(codes), 1 << 20, 0, 0});
      add(EventKind::kNcclStop, 0, {handle + 1});
      add(EventKind::kNcclStop, 0, {handle});
      add(EventKind::kNvtxPop, 1, {0});
    }
    flush();
    write_anchor(stamp_);
    spool::FooterRecord footer{};
    footer.reason = static_cast<std::uint32_t>(spool::FooterReason::kExit);
    std::memcpy(payload(), &footer, sizeof footer);
    writer_.write_block(spool::BlockKind::kFooter, buffer_.data(), sizeof footer);
  }

 private:
  std::uint8_t* payload() { return buffer_.data() + spool::SpoolWriter::kHeadroom; }

  void write_anchor(std::uint64_t counter) {
    const auto ns = static_cast<std::int64_t>(counter);
    const spool::AnchorRecord anchor{counter, ns, 1'700'000'000'000'000'000 + ns, ns, 10};
    std::memcpy(payload(), &anchor, sizeof anchor);
    writer_.write_block(spool::BlockKind::kAnchors, buffer_.data(), sizeof anchor);
  }

  template <typename State>
  void append(State state, spool::StateKind kind, const char* text, std::size_t* size) {
    const std::size_t length = text != nullptr ? std::strlen(text) : 0;
    const std::size_t bytes = (sizeof state + length + 7) / 8 * 8;
    state.header = {static_cast<std::uint16_t>(kind), 0, static_cast<std::uint32_t>(bytes)};
    std::memset(payload() + *size, 0, bytes);
    std::memcpy(payload() + *size, &state, sizeof state);
    if (length > 0) std::memcpy(payload() + *size + sizeof state, text, length);
    *size += bytes;
  }

  void write_state(int rank) {
    std::size_t size = 0;
    append(spool::StringState{{}, 1, 4}, spool::StateKind::kString, "NCCL", &size);
    append(spool::StringState{{}, 2, 13}, spool::StateKind::kString, "ncclAllReduce", &size);
    append(spool::DomainState{{}, 1, 1}, spool::StateKind::kDomain, nullptr, &size);
    append(spool::ThreadState{{}, 1, 4711}, spool::StateKind::kThread, nullptr, &size);
    append(spool::CommunicatorState{{}, 1, 5, kCommHash, rank, kRanks, 1, 0, 0}, spool::StateKind::kCommunicator,
           nullptr, &size);
    writer_.write_block(spool::BlockKind::kState, buffer_.data(), size);
  }

  void add(EventKind kind, std::uint32_t id, std::initializer_list<std::uint64_t> fields) {
    struct {
      spool::EventHeader header;
      std::uint64_t fields[spool::kMaxFields];
    } record{};
    record.header = {static_cast<std::uint16_t>(sizeof(spool::EventHeader) + 8 * fields.size()),
                     static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(fields.size()), id, stamp_};
    std::copy(fields.begin(), fields.end(), record.fields);
    if (!is_open_) {
      encoder_.begin(1, stamp_);
      is_open_ = true;
    }
    encoder_.add(record.header);
    stamp_ += 200;
    if (!encoder_.has_room()) flush();
  }

  void flush() {
    if (is_open_) writer_.write_block(spool::BlockKind::kEvents, buffer_.data(), encoder_.size());
    is_open_ = false;
  }

  std::vector<std::uint8_t> buffer_;
  spool::SpoolWriter writer_;
  spool::EventEncoder encoder_{payload(), 256 << 10};
  std::uint64_t stamp_ = 1000;
  bool is_open_ = false;
};

double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(int calls, const std::string& base) {
  std::string folder = base + "/merge_bench.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror("merge_bench: cannot make a folder");
    return 1;
  }
  std::vector<std::string> paths;
  for (int rank = 0; rank < kRanks; ++rank) {
    paths.push_back(folder + "/rank" + std::to_string(rank) + ".jxspool");
    SpoolMaker(paths.back(), rank).write_calls(calls);
  }
  std::uint64_t events = 0;
  const double decode_s = seconds_of([&] {
    for (const std::string& path : paths) {
      const auto trace = rundir::SpoolTrace::load(path);
      if (trace) trace->for_each_event([&](std::uint32_t, const spool::Event&) { ++events; });
    }
  });
  std::size_t instances = 0;
  bool is_partial = true;
  const double merge_s = seconds_of([&] {
    auto directory = rundir::read_run_directory(folder);
    if (!directory || directory->runs.size() != 1) return;
    const assembly::AssembledRun merged = assembly::assemble_run(std::move(directory->runs[0]));
    instances = merged.tables.collectives.comm.size();
    is_partial = merged.is_partial;
  });
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  std::printf("merge.decode %.2f M events/s\n", static_cast<double>(events) / decode_s / 1e6);
  std::printf("merge.assemble %.2f M events/s\n", static_cast<double>(events) / merge_s / 1e6);
  std::printf("merge.assemble_to_decode %.3f ratio\n", decode_s / merge_s);
  if (instances == static_cast<std::size_t>(calls) && !is_partial) return 0;
  std::fprintf(stderr, "merge_bench: %zu instances instead of %d; the figures above mean nothing\n", instances, calls);
  return 1;
}

}  // namespace
}  // namespace jaxprof

int main(int argc, char** argv) {
  return jaxprof::run(argc > 1 ? std::atoi(argv[1]) : 100'000, argc > 2 ? argv[2] : "/tmp");
}
