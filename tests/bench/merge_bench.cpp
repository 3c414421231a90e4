// How fast a run is put together, from spools to tables. The spools look like a training job's: each of four ranks
// calls AllReduce, seen by NVTX and by the NCCL plugin, and a kernel carries it out, with the CUDA call that launched
// it and the plugin's mark on both, seen by CUPTI. The limit is decoding the same spools and doing nothing with what is
// in them, measured in the same run; the ratio to it is what matching, joining and tables cost.
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
#include "agent/spool/varint.h"
#include "merge/assembly/assemble_run.h"
#include "merge/rundir/run_directory.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof {
namespace {

using spool::EventKind;
using spool::NcclEvent;

constexpr int kRanks = 4;
constexpr std::uint64_t kCommHash = 0xfeedface12345678;
constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::uint64_t kStream = 0xdead;
constexpr char kKernel[] = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
constexpr std::uint32_t kTid = 4711;
constexpr std::int64_t kEpochNs = 1'700'000'000'000'000'000;  // of stamp 0, in CUPTI's clock and on the wall

// Blocks of one kind, written as they fill up.
class BlockMaker {
 public:
  BlockMaker(spool::SpoolWriter* writer, spool::BlockKind kind, std::uint32_t thread)
      : writer_(*writer), kind_(kind), thread_(thread), buffer_(spool::SpoolWriter::kHeadroom + kBlockBytes) {}

  void add(EventKind kind, std::uint32_t id, std::uint64_t stamp, std::initializer_list<std::uint64_t> fields) {
    struct {
      spool::EventHeader header;
      std::uint64_t fields[spool::kMaxFields];
    } record{};
    record.header = {static_cast<std::uint16_t>(sizeof(spool::EventHeader) + 8 * fields.size()),
                     static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(fields.size()), id, stamp};
    std::copy(fields.begin(), fields.end(), record.fields);
    if (!is_open_) encoder_.begin(thread_, stamp);
    is_open_ = true;
    encoder_.add(record.header);
    if (!encoder_.has_room()) flush();
  }

  void flush() {
    if (is_open_) writer_.write_block(kind_, buffer_.data(), encoder_.size());
    is_open_ = false;
  }

 private:
  spool::SpoolWriter& writer_;
  const spool::BlockKind kind_;
  const std::uint32_t thread_;
  std::vector<std::uint8_t> buffer_;
  spool::EventEncoder encoder_{buffer_.data() + spool::SpoolWriter::kHeadroom, kBlockBytes};
  bool is_open_ = false;
};

// Writes one rank's spool, as its process would have.
class SpoolMaker {
 public:
  SpoolMaker(const std::string& path, int rank) : buffer_(spool::SpoolWriter::kHeadroom + kBlockBytes) {
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
    for (int i = 0; i < calls; ++i) write_call(static_cast<std::uint64_t>(i));
    events_.flush();
    activities_.flush();
    write_anchor(stamp_);
    spool::FooterRecord footer{};
    footer.reason = static_cast<std::uint32_t>(spool::FooterReason::kExit);
    std::memcpy(payload(), &footer, sizeof footer);
    writer_.write_block(spool::BlockKind::kFooter, buffer_.data(), sizeof footer);
  }

 private:
  void write_call(std::uint64_t i) {
    const std::uint64_t handle = std::uint64_t{1} << 36 | (i * 5 + 1);
    const std::uint64_t launch = handle + 1;
    const std::uint64_t group = handle + 2;
    const std::uint64_t coll = handle + 3;
    const std::uint64_t launched_ns = static_cast<std::uint64_t>(kEpochNs) + stamp_ + 450;  // within the launch
    const spool::NcclCodes codes{spool::NcclFunction::kAllReduce,
                                 spool::NcclType::kBfloat16,
                                 spool::NcclAlgorithm::kRing,
                                 spool::NcclProtocol::kSimple,
                                 16,
                                 16};
    add(EventKind::kNvtxPush, 2, {spool::pack(spool::NvtxContext{1, 0, 0})});
    add(EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kCollApi),
        {handle, 1, 0, spool::pack(codes), 1 << 20, 0, kStream, 0});
    add(EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kKernelLaunch), {launch, 1, 0, kStream});
    add(EventKind::kNcclStop, 0, {launch});
    add(EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kGroup), {group, 1, 0});
    add(EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kColl),
        {coll, 1, handle, i, spool::pack(codes), 1 << 20, 0, group});
    add(EventKind::kNcclStop, 0, {coll});
    add(EventKind::kNcclStop, 0, {group});
    add(EventKind::kNcclStop, 0, {handle});
    add(EventKind::kNvtxPop, 1, {0});
    const std::uint64_t correlation = i + 1;
    activities_.add(EventKind::kGpuExternal, 0, launched_ns, {launch, correlation});
    activities_.add(EventKind::kGpuApi, 307, launched_ns, {spool::fold_sign(100), kTid, correlation, 0});
    activities_.add(EventKind::kGpuKernel, 3, launched_ns + 500, {spool::fold_sign(1200), 1, correlation, 1});
  }

  void add(EventKind kind, std::uint32_t id, std::initializer_list<std::uint64_t> fields) {
    events_.add(kind, id, stamp_, fields);
    stamp_ += 200;
  }

  std::uint8_t* payload() { return buffer_.data() + spool::SpoolWriter::kHeadroom; }

  void write_anchor(std::uint64_t counter) {
    const auto ns = static_cast<std::int64_t>(counter);
    const spool::AnchorRecord anchor{counter, ns, kEpochNs + ns, ns, 10};
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
    append(spool::ThreadState{{}, 1, kTid}, spool::StateKind::kThread, nullptr, &size);
    append(spool::CommunicatorState{{}, 1, 5, kCommHash, rank, kRanks, 1, 0, 0}, spool::StateKind::kCommunicator,
           nullptr, &size);
    append(spool::StringState{{}, 3, sizeof kKernel - 1}, spool::StateKind::kString, kKernel, &size);
    append(spool::GpuLaneState{{}, 1, 0, 1, 7}, spool::StateKind::kGpuLane, nullptr, &size);
    append(spool::GpuStreamState{{}, 1, 7, kStream}, spool::StateKind::kGpuStream, nullptr, &size);
    append(spool::LaunchConfigState{{}, 1, {16, 1, 1}, {512, 1, 1}, {}, 96, 0, 0, 0}, spool::StateKind::kLaunchConfig,
           nullptr, &size);
    for (const std::uint64_t counter : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
      const std::int64_t ns = kEpochNs + static_cast<std::int64_t>(counter);
      append(spool::GpuClockState{{}, counter, 10, ns, ns}, spool::StateKind::kGpuClock, nullptr, &size);
    }
    writer_.write_block(spool::BlockKind::kState, buffer_.data(), size);
  }

  std::vector<std::uint8_t> buffer_;
  spool::SpoolWriter writer_;
  BlockMaker events_{&writer_, spool::BlockKind::kEvents, 1};
  BlockMaker activities_{&writer_, spool::BlockKind::kActivities, 0};
  std::uint64_t stamp_ = 1000;
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
      if (!trace) continue;
      trace->for_each_event([&](std::uint32_t, const spool::Event&) { ++events; });
      trace->for_each_activity([&](const spool::Event&) { ++events; });
    }
  });
  std::size_t instances = 0;
  std::size_t joined = 0;
  bool is_partial = true;
  const double merge_s = seconds_of([&] {
    auto directory = rundir::read_run_directory(folder);
    if (!directory || directory->runs.size() != 1) return;
    const assembly::AssembledRun merged = assembly::assemble_run(std::move(directory->runs[0]));
    instances = merged.tables.collectives.comm.size();
    joined = static_cast<std::size_t>(std::count(merged.tables.nccl_work.path.begin(),
                                                 merged.tables.nccl_work.path.end(), runfile::JoinPath::kExternal));
    is_partial = merged.is_partial;
  });
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  std::printf("merge.decode %.2f M events/s\n", static_cast<double>(events) / decode_s / 1e6);
  std::printf("merge.assemble %.2f M events/s\n", static_cast<double>(events) / merge_s / 1e6);
  std::printf("merge.assemble_to_decode %.3f ratio\n", decode_s / merge_s);
  const auto expected = static_cast<std::size_t>(calls);
  if (instances == expected && joined == kRanks * expected && !is_partial) return 0;
  std::fprintf(
      stderr, "merge_bench: %zu instances, %zu calls with their kernel, of %d a rank; the figures above mean nothing\n",
      instances, joined, calls);
  return 1;
}

}  // namespace
}  // namespace jaxprof

int main(int argc, char** argv) {
  return jaxprof::run(argc > 1 ? std::atoi(argv[1]) : 100'000, argc > 2 ? argv[2] : "/tmp");
}
