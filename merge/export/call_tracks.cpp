// Calls are by their begin on the host; their times on the GPU are sorted first, a process's at a time.
#include "merge/export/call_tracks.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>

#include "merge/export/event_names.h"
#include "merge/export/lanes.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

bool is_call_column(std::string_view path) {
  constexpr std::array<std::string_view, 23> kColumns = {
      "/events/nccl/start_ns",   "/events/nccl/enqueue_ns", "/events/nccl/end_api_ns", "/events/nccl/gpu_start_ns",
      "/events/nccl/gpu_dur_ns", "/events/nccl/comm",       "/events/nccl/comm_rank",  "/events/nccl/device",
      "/events/nccl/seq",        "/events/nccl/coll",       "/events/nccl/api",        "/events/nccl/dtype",
      "/events/nccl/redop",      "/events/nccl/algo",       "/events/nccl/proto",      "/events/nccl/size_bytes",
      "/events/nccl/peer",       "/events/nccl/tid",        "/events/nccl/graph",      "/events/nccl/instance",
      "/events/nccl/replay",     "/events/nccl/timing",     "/events/nccl/transfer"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

// What a slice of a call says, short enough to keep for all calls of a process.
struct Call {
  std::int64_t start_ns, end_ns;
  std::uint64_t size_bytes, seq, instance, transfer, replay;
  std::uint32_t comm;
  std::int32_t comm_rank, peer, device;
  StringId api;
  Coll coll;
  Dtype dtype;
  Redop redop;
  Algo algo;
  Proto proto;
  Timing timing;
  bool is_joined = true;  // to the others of its instance: on the GPU where it has times of it
};

bool has_gpu_times(const NcclTable& t, std::size_t i) {
  return t.gpu_start_ns[i] >= 0 && t.gpu_dur_ns[i] >= 0;
}

class CallTracks {
 public:
  CallTracks(const ExportedProcess& process, std::uint64_t n_collectives)
      : process_(process),
        n_collectives_(n_collectives),
        host_steps_(process.axis, process.process),
        gpu_steps_(process.axis, process.process),
        walk_(process.reader, process.rows.nccl, is_call_column) {}

  Status run() {
    for (;;) {
      const auto has_row = walk_.next();
      if (!has_row) return tl::unexpected(has_row.error());
      if (!*has_row) break;
      take(walk_.table(), walk_.at());
    }
    add_waiting();
    for (auto& [tid, lanes] : threads_) lanes.finish();
    std::sort(on_gpu_.begin(), on_gpu_.end(), [](const Call& a, const Call& b) {
      return std::tuple(a.start_ns, b.end_ns, a.instance) < std::tuple(b.start_ns, a.end_ns, b.instance);
    });
    for (const Call& call : on_gpu_) add_on_gpu(call);
    for (auto& [key, lanes] : comms_) lanes.finish();
    return {};
  }

 private:
  void take(const NcclTable& t, std::size_t i) {
    // A replay of a captured call is no call of the host's.
    if (t.start_ns[i] >= 0 && t.replay[i] == kNoRow && process_.time.contains(t.start_ns[i])) {
      if (!waiting_.empty() && waiting_.front().second.start_ns != t.start_ns[i]) add_waiting();
      const std::int64_t last_ns = std::max({t.start_ns[i], t.enqueue_ns[i], t.end_api_ns[i]});
      waiting_.emplace_back(t.tid[i], call_of(t, i, t.start_ns[i], last_ns));
      waiting_.back().second.is_joined = !has_gpu_times(t, i);
    }
    if (has_gpu_times(t, i) && process_.time.contains(t.gpu_start_ns[i])) {
      on_gpu_.push_back(call_of(t, i, t.gpu_start_ns[i], study::instant_after(t.gpu_start_ns[i], t.gpu_dur_ns[i])));
    }
  }

  static Call call_of(const NcclTable& t, std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
    return {start_ns,    end_ns,     t.size_bytes[i], t.seq[i],  t.instance[i], t.transfer[i],
            t.replay[i], t.comm[i],  t.comm_rank[i],  t.peer[i], t.device[i],   t.api[i],
            t.coll[i],   t.dtype[i], t.redop[i],      t.algo[i], t.proto[i],    t.timing[i]};
  }

  // Calls that begin at one instant, the longest first: a call and the parts that it consists of.
  void add_waiting() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const auto& a, const auto& b) { return a.second.end_ns > b.second.end_ns; });
    for (const auto& [tid, call] : waiting_) {
      const Slice slice = slice_of(call, Category::kNcclCall, host_steps_);
      auto at = threads_.find(tid);
      if (at == threads_.end()) {
        TrackPlan plan{process_.track, "NCCL calls", kThenCalls};
        if (tid != kNoRow) plan.name += fmt::format(" of thread {}", tid);
        at = threads_.try_emplace(tid, process_.trace, std::move(plan), Overlap::kInside).first;
      }
      at->second.add(slice);
    }
    waiting_.clear();
  }

  void add_on_gpu(const Call& call) {
    const std::pair key(call.device, call.comm);
    auto at = comms_.find(key);
    if (at == comms_.end()) {
      const TrackPlan plan{process_.track,
                           fmt::format("NCCL on {}, communicator {}", name_of_gpu(process_.run, call.device),
                                       name_of_comm(process_.run, call.comm)),
                           kThenCollectives};
      at = comms_.try_emplace(key, process_.trace, plan, Overlap::kNever).first;
    }
    at->second.add(slice_of(call, Category::kCollective, gpu_steps_));
  }

  template <typename E>
  void add_word(NoteName name, E value, Notes& notes) {
    if (static_cast<std::size_t>(value) < EnumWords<E>::words.size())
      notes.add_text(name, process_.trace.text(word(value)));
  }

  Slice slice_of(const Call& call, Category category, StepWalk& steps) {
    Slice slice{.start_ns = call.start_ns, .end_ns = call.end_ns, .category = category};
    slice.name = process_.trace.name(call.coll == Coll::kMissing ? "NCCL call" : word(call.coll));
    Notes& notes = slice.notes;
    if (call.size_bytes != kNoRow) notes.add(NoteName::kSize, call.size_bytes);
    add_word(NoteName::kDtype, call.dtype, notes);
    add_word(NoteName::kReduction, call.redop, notes);
    add_word(NoteName::kAlgorithm, call.algo, notes);
    add_word(NoteName::kProtocol, call.proto, notes);
    notes.add_text(NoteName::kCommunicator, comm_text(call.comm));
    if (call.comm_rank >= 0) notes.add_signed(NoteName::kCommunicatorRank, call.comm_rank);
    if (call.peer >= 0) notes.add_signed(NoteName::kPeer, call.peer);
    if (call.seq != kNoRow) notes.add(NoteName::kSeq, call.seq);
    process_.add_step(steps, call.start_ns, notes);
    if (call.api != kNoText) notes.add_text(NoteName::kApi, process_.trace.text(call.api));
    if (call.replay != kNoRow) notes.add(NoteName::kReplay, call.replay);
    if (category == Category::kNcclCall) add_word(NoteName::kTimes, call.timing, notes);
    if (call.instance != kNoRow) notes.add(NoteName::kInstance, call.instance);
    if (call.transfer != kNoRow) notes.add(NoteName::kTransfer, call.transfer);
    if (call.is_joined && call.instance != kNoRow) {
      slice.flow = call.instance + 1;
    } else if (call.is_joined && call.transfer != kNoRow) {
      slice.flow = n_collectives_ + call.transfer + 1;
    }
    return slice;
  }

  std::uint64_t comm_text(std::uint32_t comm) {
    const auto [at, is_new] = comm_texts_.try_emplace(comm, 0);
    if (is_new) at->second = process_.trace.text(name_of_comm(process_.run, comm));
    return at->second;
  }

  const ExportedProcess& process_;
  std::uint64_t n_collectives_;
  StepWalk host_steps_;
  StepWalk gpu_steps_;
  RowWalk<NcclTable> walk_;
  std::vector<std::pair<std::uint64_t, Call>> waiting_;  // with their threads
  std::vector<Call> on_gpu_;
  std::map<std::uint64_t, Lanes> threads_;
  std::map<std::pair<std::int32_t, std::uint32_t>, Lanes> comms_;
  std::map<std::uint32_t, std::uint64_t> comm_texts_;
};

}  // namespace

RowRuns calls_in(const RunTables& run, std::size_t process, const study::Intervals& time) {
  const NcclTable& t = run.nccl;
  RowRuns runs;
  for (std::uint64_t row = run.nccl_process_offset[process]; row < run.nccl_process_offset[process + 1]; ++row) {
    if (!time.contains(t.start_ns[row]) && !(has_gpu_times(t, row) && time.contains(t.gpu_start_ns[row]))) continue;
    if (!runs.empty() && runs.back().end == row) {
      ++runs.back().end;
    } else {
      runs.push_back({row, row + 1});
    }
  }
  return runs;
}

Status add_calls(const ExportedProcess& process, std::uint64_t n_collectives) {
  return CallTracks(process, n_collectives).run();
}

void add_late_arrivals(const ExportedProcess& process, const LateMembers& late) {
  Lanes lanes(process.trace, {process.track, "late arrivals", kThenLate}, Overlap::kNever);
  StepWalk steps(process.axis, process.process);
  const std::uint64_t certain = process.trace.name(std::string_view("late"));
  const std::uint64_t doubtful = process.trace.name(std::string_view("late, unresolved"));
  for (const LateMember& member : late.of_process(process.process)) {
    if (!process.time.contains(member.start_ns)) continue;
    Slice slice{.start_ns = member.first_ns,
                .end_ns = member.start_ns,
                .name = member.is_resolved ? certain : doubtful,
                .category = Category::kLate};
    slice.notes.add_signed(NoteName::kLateness, study::span_ns(member.first_ns, member.start_ns));
    slice.notes.add_bool(NoteName::kResolved, member.is_resolved);
    slice.notes.add_bool(NoteName::kCertain, member.is_certain);
    slice.notes.add(NoteName::kInstance, member.instance);
    process.add_step(steps, member.start_ns, slice.notes);
    lanes.add(slice);
  }
  lanes.finish();
}

}  // namespace jaxprof::exporting
