#include "merge/assembly/nccl_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
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

}  // namespace

void NcclRows::add(std::uint32_t index, const SourceProcess& process, const match::NcclCalls& nccl,
                   const match::NcclJoin& join, const GpuBase& base) {
  runfile::NcclTable table;  // of this process, in the order of calls, then by start
  const std::size_t first = runfile::n_rows(run_->nccl);
  const std::size_t count = nccl.calls.size() + join.replays.size();
  std::vector<std::vector<NcclWork>> work(count);
  for (const NcclWork& item : join.work) work[item.call].push_back(item);
  const std::vector<std::size_t> wholes = find_wholes(nccl, join);
  const auto sharers = count_sharers(wholes, join);
  const auto call_of = [&](std::size_t i) -> const NcclCall& {
    return i < nccl.calls.size() ? nccl.calls[i] : nccl.calls[join.replays[i - nccl.calls.size()].capture];
  };

  runfile::resize_rows(table, count);
  std::map<std::uint64_t, std::uint32_t> streams;
  const bool has_gpu = !process.trace.gpu().lanes.empty();
  std::vector<std::uint64_t> shared(count);
  for (std::size_t row = 0; row < count; ++row) {
    const NcclCall& call = call_of(row);
    set_call(call, row, &table);
    table.device[row] = devices_.row(index, call.device);
    if (call.stream != 0 && !has_gpu) {
      table.stream[row] = streams.try_emplace(call.stream, static_cast<std::uint32_t>(streams.size())).first->second;
    }
    if (row >= nccl.calls.size()) {
      table.replay[row] = join.replays[row - nccl.calls.size()].replay;
      if (!work[row].empty()) set_launch(work[row].front(), base, row, &table);
    } else {
      if (call.replay != match::kNoAmount) table.replay[row] = call.replay;
      table.tid[row] = process.trace.tid(call.thread);
      table.enqueue_ns[row] = process.clock->axis_ns(call.enqueue_start);
      table.start_ns[row] = table.enqueue_ns[row];
      if (call.has_enqueue_end) table.end_api_ns[row] = process.clock->axis_ns(call.enqueue_end);
    }
    set_work(work[row], base, row, &table);
    if (table.comm_rank[row] < 0) table.comm_rank[row] = rank_on(index, table.comm[row], table.device[row]);
    shared[row] = call.calls_in_plan;
    for (const NcclWork& item : work[row]) shared[row] = std::max<std::uint64_t>(shared[row], sharers.at(item.work));
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&table](std::size_t a, std::size_t b) { return table.start_ns[a] < table.start_ns[b]; });
  std::vector<std::uint64_t> row_of(count);  // in the run's table
  for (std::size_t i = 0; i < count; ++i) row_of[order[i]] = first + i;
  for (std::size_t i = 0; i < count; ++i) {
    if (wholes[i] != match::kNoCall) table.parent[i] = row_of[wholes[i]];
  }
  for (const std::size_t i : order) calls_in_plan_.push_back(shared[i]);
  runfile::reorder_rows(table, std::span<const std::size_t>(order));
  runfile::append_rows(run_->nccl, table);
  add_pairs(join, row_of, base);
}

void NcclRows::add_pairs(const match::NcclJoin& join, const std::vector<std::uint64_t>& row_of, const GpuBase& base) {
  struct Pair {
    std::uint64_t call;
    WorkRow work;
    runfile::JoinPath path;
  };
  std::vector<Pair> pairs;
  for (const NcclWork& item : join.work) pairs.push_back({row_of[item.call], item.work, item.path});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return std::tie(a.call, a.work) < std::tie(b.call, b.work); });
  for (const Pair& pair : pairs) {
    const std::size_t row = runfile::add_row(run_->nccl_work);
    run_->nccl_work.call[row] = pair.call;
    (pair.work.is_memop ? run_->nccl_work.memop : run_->nccl_work.kernel)[row] =
        pair.work.row + (pair.work.is_memop ? base.memop : base.kernel);
    run_->nccl_work.path[row] = pair.path;
  }
}

void NcclRows::set_call(const NcclCall& call, std::size_t row, runfile::NcclTable* to) {
  runfile::NcclTable& table = *to;
  std::int32_t ranks = -1;
  if (call.comm_hash) {
    table.comm[row] = comms_.index(*call.comm_hash);
    ranks = comms_.rank_count(*call.comm_hash);
  }
  table.comm_rank[row] = call.comm_rank;
  if (call.sequence != match::kNoAmount) table.seq[row] = call.sequence;
  table.coll[row] = call.coll;
  table.api[row] = run_->strings.intern(call.api);
  table.dtype[row] = call.dtype;
  table.redop[row] = call.redop;
  table.algo[row] = call.algo;
  table.proto[row] = call.proto;
  table.channels[row] = call.channels;
  if (call.count != match::kNoAmount) table.count[row] = call.count;
  if (call.bytes != match::kNoAmount) {
    table.bytes[row] = call.bytes;
    const bool is_per_rank = match::is_size_per_rank(call.coll);
    if (!is_per_rank) table.size_bytes[row] = call.bytes;
    if (is_per_rank && ranks > 0) table.size_bytes[row] = call.bytes * static_cast<std::uint64_t>(ranks);
  }
  table.root[row] = call.root;
  table.peer[row] = call.peer;
  if (call.group != match::kNoAmount) table.group[row] = call.group;
  table.graph[row] = call.is_captured ? 1 : 0;
  if (call.capture_number != match::kNoAmount) table.capture[row] = call.capture_number;
  table.src[row] = call.source;
  table.flags[row] = 0;
}

void NcclRows::set_work(const std::vector<NcclWork>& work, const GpuBase& base, std::size_t row,
                        runfile::NcclTable* to) const {
  runfile::NcclTable& table = *to;
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
      take(run_->memops, base.memop + item.work.row);
    } else {
      take(run_->kernels, base.kernel + item.work.row);
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

std::int32_t NcclRows::rank_on(std::uint32_t process, std::uint32_t comm, std::int32_t device) const {
  if (comm == runfile::kNoIndex || device < 0) return -1;
  std::int32_t rank = -1;
  const runfile::CommMemberTable& members = run_->comm_members;
  for (std::uint64_t i = run_->comm_member_offset[comm]; i < run_->comm_member_offset[comm + 1]; ++i) {
    if (members.member_process[i] != process || members.member_device[i] != device) continue;
    if (rank >= 0) return -1;
    rank = members.member_comm_rank[i];
  }
  return rank;
}

// A replay begins with the launch of its graph; where that was not recorded, with its first work.
void NcclRows::set_launch(const NcclWork& work, const GpuBase& base, std::size_t row, runfile::NcclTable* to) const {
  const std::uint64_t at = (work.work.is_memop ? base.memop : base.kernel) + work.work.row;
  const std::uint64_t api = work.work.is_memop ? run_->memops.api[at] : run_->kernels.api[at];
  runfile::NcclTable& table = *to;
  if (api == runfile::kNoRow || run_->api.start_ns[api] < 0) {
    table.start_ns[row] = work.work.is_memop ? run_->memops.start_ns[at] : run_->kernels.start_ns[at];
    return;
  }
  table.start_ns[row] = run_->api.start_ns[api];
  table.enqueue_ns[row] = run_->api.start_ns[api];
  if (run_->api.dur_ns[api] >= 0) table.end_api_ns[row] = run_->api.start_ns[api] + run_->api.dur_ns[api];
  table.tid[row] = run_->api.tid[api];
}

void NcclRows::fill_member_devices() {
  std::map<std::pair<std::uint32_t, std::int32_t>, std::int32_t> devices;  // by communicator and rank
  const runfile::NcclTable& table = run_->nccl;
  for (std::size_t row = 0; row < table.device.size(); ++row) {
    const bool is_known = table.device[row] >= 0 && table.comm[row] != runfile::kNoIndex && table.comm_rank[row] >= 0;
    if (is_known) devices.try_emplace({table.comm[row], table.comm_rank[row]}, table.device[row]);
  }
  runfile::CommMemberTable& members = run_->comm_members;
  for (std::uint32_t comm = 0; comm < run_->comms.comm.size(); ++comm) {
    for (std::uint64_t i = run_->comm_member_offset[comm]; i < run_->comm_member_offset[comm + 1]; ++i) {
      const auto device = devices.find({comm, members.member_comm_rank[i]});
      if (members.member_device[i] < 0 && device != devices.end()) members.member_device[i] = device->second;
    }
  }
}

}  // namespace jaxprof::assembly
