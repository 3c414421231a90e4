#include "merge/assembly/nccl_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::assembly {
namespace {

using match::NcclCall;
using match::NcclWork;
using match::WorkRow;

// For each call and each replay the one that it is a part of, or kNoCall. Replay k of a part is part of replay k of the
// whole; where that was not seen, of the whole as it was captured.
std::vector<std::size_t> find_wholes(const match::NcclCalls& nccl, const match::NcclJoin& join) {
  const std::size_t count = nccl.calls.size() + join.replays.size();
  const bool has_parts = std::any_of(nccl.calls.begin(), nccl.calls.end(),
                                     [](const NcclCall& call) { return call.parent != match::kNoCall; });
  if (!has_parts) return std::vector<std::size_t>(count, match::kNoCall);
  std::vector<match::NcclReplay> replay_of(count, {match::kNoCall, 0});
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> replays;  // by capture and replay
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= nccl.calls.size()) {
      replay_of[i] = join.replays[i - nccl.calls.size()];
    } else if (nccl.calls[i].capture != match::kNoCall) {
      replay_of[i] = {nccl.calls[i].capture, nccl.calls[i].replay};
    }
    if (replay_of[i].capture != match::kNoCall) replays[{replay_of[i].capture, replay_of[i].replay}] = i;
  }
  std::vector<std::size_t> wholes(count, match::kNoCall);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [capture, replay] = replay_of[i];
    wholes[i] = nccl.calls[capture == match::kNoCall ? i : capture].parent;
    if (capture == match::kNoCall || wholes[i] == match::kNoCall) continue;
    const auto whole = replays.find({wholes[i], replay});
    if (whole != replays.end()) wholes[i] = whole->second;
  }
  return wholes;
}

// How many whole calls share each kernel and copy; a part counts as its whole.
class Sharers {
 public:
  Sharers(const std::vector<std::size_t>& wholes, const match::NcclJoin& join, const match::GpuWork& gpu)
      : kernels_(gpu.kernels.start_ns.size()), memops_(gpu.memops.start_ns.size()) {
    for (const NcclWork& work : join.work) ++count_of(work.work);
    std::vector<std::pair<WorkRow, std::size_t>> shared;  // with each whole
    for (const NcclWork& work : join.work) {
      if (count_of(work.work) < 2) continue;
      const std::size_t whole = wholes[work.call];
      shared.emplace_back(work.work, whole == match::kNoCall ? work.call : whole);
    }
    std::sort(shared.begin(), shared.end());
    shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
    for (const auto& [work, whole] : shared) count_of(work) = 0;
    for (const auto& [work, whole] : shared) ++count_of(work);
  }

  std::uint32_t& count_of(const WorkRow& work) { return (work.is_memop ? memops_ : kernels_)[work.row]; }

 private:
  std::vector<std::uint32_t> kernels_;  // by row
  std::vector<std::uint32_t> memops_;
};

class Rows {
 public:
  Rows(const SourceProcess& process, const match::NcclCalls& nccl, const match::NcclJoin& join,
       const match::GpuWork& work, runfile::StringTable* strings)
      : process_(process),
        nccl_(nccl),
        join_(join),
        gpu_(work),
        strings_(*strings),
        has_gpu_(!process.trace.gpu().lanes.empty()) {}

  ProcessCalls run() && {
    const std::size_t count = nccl_.calls.size() + join_.replays.size();
    find_work(count);
    const std::vector<std::size_t> wholes = find_wholes(nccl_, join_);
    Sharers sharers(wholes, join_, gpu_);
    runfile::resize_rows(table_, count);
    std::vector<std::uint64_t> shared(count);
    for (std::size_t row = 0; row < count; ++row) {
      set_row(row, work_of(row));
      shared[row] = call_of(row).calls_in_plan;
      for (const NcclWork& item : work_of(row)) {
        shared[row] = std::max<std::uint64_t>(shared[row], sharers.count_of(item.work));
      }
    }
    const std::vector<std::size_t> order = scratch::sorted_places(std::span<const std::int64_t>(table_.start_ns));
    std::vector<std::uint64_t> row_of(count);
    for (std::size_t i = 0; i < count; ++i) row_of[order[i]] = i;
    for (std::size_t i = 0; i < count; ++i) {
      if (wholes[i] != match::kNoCall) table_.parent[i] = row_of[wholes[i]];
    }
    if (!std::is_sorted(order.begin(), order.end())) runfile::reorder_rows(table_, std::span<const std::size_t>(order));
    ProcessCalls calls;
    calls.calls.calls_in_plan.reserve(count);
    for (const std::size_t i : order) {
      calls.calls.calls_in_plan.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(shared[i], UINT32_MAX)));
    }
    calls.calls.rows = std::move(table_);
    calls.work = pairs_of(order);
    calls.calls.comm_hashes = std::move(comm_hashes_);
    return calls;
  }

 private:
  const NcclCall& call_of(std::size_t row) const {
    return row < nccl_.calls.size() ? nccl_.calls[row] : nccl_.calls[join_.replays[row - nccl_.calls.size()].capture];
  }

  // Work is in the order of calls.
  void find_work(std::size_t count) {
    first_work_.assign(count + 1, 0);
    for (const NcclWork& item : join_.work) ++first_work_[item.call + 1];
    for (std::size_t row = 0; row < count; ++row) first_work_[row + 1] += first_work_[row];
  }
  std::span<const NcclWork> work_of(std::size_t row) const {
    return std::span(join_.work).subspan(first_work_[row], first_work_[row + 1] - first_work_[row]);
  }

  void set_row(std::size_t row, std::span<const NcclWork> work) {
    const NcclCall& call = call_of(row);
    set_call(call, row);
    if (call.stream != 0 && !has_gpu_) {
      table_.stream[row] = streams_.try_emplace(call.stream, static_cast<std::uint32_t>(streams_.size())).first->second;
    }
    if (row >= nccl_.calls.size()) {
      table_.replay[row] = join_.replays[row - nccl_.calls.size()].replay;
      if (!work.empty()) set_launch(work.front().work, row);
    } else {
      if (call.replay != match::kNoAmount) table_.replay[row] = call.replay;
      table_.tid[row] = process_.trace.tid(call.thread);
      table_.enqueue_ns[row] = process_.clock->axis_ns(call.enqueue_start);
      table_.start_ns[row] = table_.enqueue_ns[row];
      if (call.has_enqueue_end) table_.end_api_ns[row] = process_.clock->axis_ns(call.enqueue_end);
    }
    set_work(work, row);
    if (table_.comm_rank[row] < 0 && call.comm_hash) {
      table_.comm_rank[row] = rank_on(*call.comm_hash, table_.device[row]);
    }
  }

  void set_call(const NcclCall& call, std::size_t row) {
    runfile::NcclTable& table = table_;
    if (call.comm_hash) table.comm[row] = comm_of(*call.comm_hash);
    table.comm_rank[row] = call.comm_rank;
    table.device[row] = call.device;
    if (call.sequence != match::kNoAmount) table.seq[row] = call.sequence;
    table.coll[row] = call.coll;
    table.api[row] = name_of(call.api);
    table.dtype[row] = call.dtype;
    table.redop[row] = call.redop;
    table.algo[row] = call.algo;
    table.proto[row] = call.proto;
    table.channels[row] = call.channels;
    if (call.count != match::kNoAmount) table.count[row] = call.count;
    if (call.bytes != match::kNoAmount) {
      table.bytes[row] = call.bytes;
      if (!match::is_size_per_rank(call.coll)) table.size_bytes[row] = call.bytes;
    }
    table.root[row] = call.root;
    table.peer[row] = call.peer;
    if (call.group != match::kNoAmount) table.group[row] = call.group;
    table.graph[row] = call.is_captured ? 1 : 0;
    if (call.capture_number != match::kNoAmount) table.capture[row] = call.capture_number;
    table.src[row] = call.source;
    table.flags[row] = 0;
  }

  std::uint32_t comm_of(std::uint64_t hash) {
    const auto [known, is_new] = comms_.try_emplace(hash, static_cast<std::uint32_t>(comm_hashes_.size()));
    if (is_new) comm_hashes_.push_back(hash);
    return known->second;
  }

  void set_work(std::span<const NcclWork> work, std::size_t row) {
    runfile::NcclTable& table = table_;
    table.timing[row] = runfile::Timing::kEnqueue;
    if (work.empty()) return;
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
    bool has_times = true;
    // One thread's group for several GPUs is launched as one: its work is then each call's, and tells no call's GPU.
    std::int32_t device = -1;
    std::uint32_t stream = 0;
    bool is_on_one_device = true;
    bool is_on_one_stream = true;
    const auto take = [&](const auto& from, std::uint64_t at, bool is_first) {
      has_times = has_times && from.start_ns[at] >= 0 && from.dur_ns[at] >= 0;
      start_ns = std::min(start_ns, from.start_ns[at]);
      end_ns = std::max(end_ns, from.start_ns[at] + from.dur_ns[at]);
      is_on_one_device = is_on_one_device && (is_first || from.device[at] == device);
      is_on_one_stream = is_on_one_stream && (is_first || from.stream[at] == stream);
      device = from.device[at];
      stream = from.stream[at];
    };
    table.path[row] = work.front().path;
    for (const NcclWork& item : work) {
      table.path[row] = std::min(table.path[row], item.path);
      if (item.work.is_memop) {
        take(gpu_.memops, item.work.row, &item == &work.front());
      } else {
        take(gpu_.kernels, item.work.row, &item == &work.front());
      }
    }
    if (is_on_one_device && device >= 0) table.device[row] = device;
    if (is_on_one_device && is_on_one_stream) table.stream[row] = stream;
    if (!is_on_one_device) table.flags[row] |= runfile::kCallOnSeveralGpus;
    if (!has_times || !is_on_one_device) return;
    table.gpu_start_ns[row] = start_ns;
    table.gpu_dur_ns[row] = end_ns - start_ns;
    table.timing[row] = runfile::Timing::kCupti;
  }

  // The rank of the process's only member of the communicator on that GPU; -1 if there is none, or more than one.
  std::int32_t rank_on(std::uint64_t hash, std::int32_t device) const {
    if (device < 0) return -1;
    std::int32_t rank = -1;
    for (const match::ProcessComm& member : nccl_.comms) {
      if (member.hash != hash || member.device != device) continue;
      if (rank >= 0) return -1;
      rank = member.rank;
    }
    return rank;
  }

  // A replay begins with the launch of its graph; where that was not recorded, with its first work.
  void set_launch(const WorkRow& work, std::size_t row) {
    runfile::NcclTable& table = table_;
    const std::uint64_t api = work.is_memop ? gpu_.memops.api[work.row] : gpu_.kernels.api[work.row];
    if (api == runfile::kNoRow || gpu_.api.start_ns[api] < 0) {
      table.start_ns[row] = work.is_memop ? gpu_.memops.start_ns[work.row] : gpu_.kernels.start_ns[work.row];
      return;
    }
    table.start_ns[row] = gpu_.api.start_ns[api];
    table.enqueue_ns[row] = gpu_.api.start_ns[api];
    if (gpu_.api.dur_ns[api] >= 0) table.end_api_ns[row] = gpu_.api.start_ns[api] + gpu_.api.dur_ns[api];
    table.tid[row] = gpu_.api.tid[api];
  }

  // Of a call they are in order; calls are in the order of their rows.
  runfile::NcclWorkTable pairs_of(const std::vector<std::size_t>& order) const {
    runfile::NcclWorkTable table;
    runfile::resize_rows(table, join_.work.size());
    std::size_t row = 0;
    for (std::size_t call = 0; call < order.size(); ++call) {
      for (const NcclWork& item : work_of(order[call])) {
        table.call[row] = call;
        (item.work.is_memop ? table.memop : table.kernel)[row] = item.work.row;
        table.path[row] = item.path;
        ++row;
      }
    }
    return table;
  }

  // Calls share few names, each of them in one place.
  runfile::StringId name_of(std::string_view api) {
    const auto known = std::find_if(names_.begin(), names_.end(), [api](const auto& name) {
      return name.first.data() == api.data() && name.first.size() == api.size();
    });
    if (known != names_.end()) return known->second;
    return names_.emplace_back(api, strings_.intern(api)).second;
  }

  const SourceProcess& process_;
  const match::NcclCalls& nccl_;
  const match::NcclJoin& join_;
  const match::GpuWork& gpu_;
  runfile::StringTable& strings_;
  const bool has_gpu_;
  runfile::NcclTable table_;             // in the order of calls, then by start
  std::vector<std::size_t> first_work_;  // in join_.work, of each call and the end
  std::vector<std::pair<std::string_view, runfile::StringId>> names_;
  std::vector<std::uint64_t> comm_hashes_;
  std::unordered_map<std::uint64_t, std::uint32_t> comms_;
  std::unordered_map<std::uint64_t, std::uint32_t> streams_;
};

}  // namespace

ProcessCalls nccl_rows(const SourceProcess& process, const match::NcclCalls& nccl, const match::NcclJoin& join,
                       const match::GpuWork& work, runfile::StringTable* strings) {
  return Rows(process, nccl, join, work, strings).run();
}

}  // namespace jaxprof::assembly
