#include "merge/assembly/nccl_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using match::NcclCall;
using match::NcclWork;
using match::WorkRow;

// For each call and each replay the one that it is a part of, or kNoCall. Replay k of a part is part of replay k of the
// whole; where that was not seen, of the whole as it was captured.
std::vector<std::size_t> find_wholes(const match::NcclCalls& nccl, const match::NcclJoin& join) {
  const std::size_t count = nccl.calls.size() + join.replays.size();
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

// For each call that a kernel carried out, how many whole calls share it; a part counts as its whole.
std::map<WorkRow, std::size_t> count_sharers(const std::vector<std::size_t>& wholes, const match::NcclJoin& join) {
  std::map<WorkRow, std::set<std::size_t>> sharers;
  for (const NcclWork& work : join.work) {
    const std::size_t whole = wholes[work.call];
    sharers[work.work].insert(whole == match::kNoCall ? work.call : whole);
  }
  std::map<WorkRow, std::size_t> counts;
  for (const auto& [work, calls] : sharers) counts[work] = calls.size();
  return counts;
}

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
    std::vector<std::vector<NcclWork>> work(count);
    for (const NcclWork& item : join_.work) work[item.call].push_back(item);
    const std::vector<std::size_t> wholes = find_wholes(nccl_, join_);
    const auto sharers = count_sharers(wholes, join_);
    runfile::resize_rows(table_, count);
    std::vector<std::uint64_t> shared(count);
    for (std::size_t row = 0; row < count; ++row) {
      set_row(row, work[row]);
      shared[row] = call_of(row).calls_in_plan;
      for (const NcclWork& item : work[row]) shared[row] = std::max<std::uint64_t>(shared[row], sharers.at(item.work));
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return table_.start_ns[a] < table_.start_ns[b]; });
    std::vector<std::uint64_t> row_of(count);
    for (std::size_t i = 0; i < count; ++i) row_of[order[i]] = i;
    for (std::size_t i = 0; i < count; ++i) {
      if (wholes[i] != match::kNoCall) table_.parent[i] = row_of[wholes[i]];
    }
    runfile::reorder_rows(table_, std::span<const std::size_t>(order));
    ProcessCalls calls;
    for (const std::size_t i : order) {
      calls.calls.calls_in_plan.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(shared[i], UINT32_MAX)));
    }
    calls.calls.rows = std::move(table_);
    calls.work = pairs_of(row_of);
    calls.calls.comm_hashes = std::move(comm_hashes_);
    return calls;
  }

 private:
  const NcclCall& call_of(std::size_t row) const {
    return row < nccl_.calls.size() ? nccl_.calls[row] : nccl_.calls[join_.replays[row - nccl_.calls.size()].capture];
  }

  void set_row(std::size_t row, const std::vector<NcclWork>& work) {
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
    table.api[row] = strings_.intern(call.api);
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

  void set_work(const std::vector<NcclWork>& work, std::size_t row) {
    runfile::NcclTable& table = table_;
    table.timing[row] = runfile::Timing::kEnqueue;
    if (work.empty()) return;
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
    bool has_times = true;
    // One thread's group for several GPUs is launched as one: its work is then each call's, and tells no call's GPU.
    std::set<std::int32_t> devices;
    std::set<std::uint32_t> streams;
    const auto take = [&](const auto& from, std::uint64_t at) {
      has_times = has_times && from.start_ns[at] >= 0 && from.dur_ns[at] >= 0;
      start_ns = std::min(start_ns, from.start_ns[at]);
      end_ns = std::max(end_ns, from.start_ns[at] + from.dur_ns[at]);
      devices.insert(from.device[at]);
      streams.insert(from.stream[at]);
    };
    table.path[row] = work.front().path;
    for (const NcclWork& item : work) {
      table.path[row] = std::min(table.path[row], item.path);
      if (item.work.is_memop) {
        take(gpu_.memops, item.work.row);
      } else {
        take(gpu_.kernels, item.work.row);
      }
    }
    if (devices.size() == 1 && *devices.begin() >= 0) table.device[row] = *devices.begin();
    if (devices.size() == 1 && streams.size() == 1) table.stream[row] = *streams.begin();
    if (devices.size() > 1) table.flags[row] |= runfile::kCallOnSeveralGpus;
    if (!has_times || devices.size() > 1) return;
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

  runfile::NcclWorkTable pairs_of(const std::vector<std::uint64_t>& row_of) const {
    struct Pair {
      std::uint64_t call;
      WorkRow work;
      runfile::JoinPath path;
    };
    std::vector<Pair> pairs;
    for (const NcclWork& item : join_.work) pairs.push_back({row_of[item.call], item.work, item.path});
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return std::tie(a.call, a.work) < std::tie(b.call, b.work); });
    runfile::NcclWorkTable table;
    runfile::resize_rows(table, pairs.size());
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      table.call[row] = pairs[row].call;
      (pairs[row].work.is_memop ? table.memop : table.kernel)[row] = pairs[row].work.row;
      table.path[row] = pairs[row].path;
    }
    return table;
  }

  const SourceProcess& process_;
  const match::NcclCalls& nccl_;
  const match::NcclJoin& join_;
  const match::GpuWork& gpu_;
  runfile::StringTable& strings_;
  const bool has_gpu_;
  runfile::NcclTable table_;  // in the order of calls, then by start
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
