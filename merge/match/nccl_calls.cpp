#include "merge/match/nccl_calls.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "merge/match/by_handle.h"
#include "merge/match/call_numbers.h"
#include "merge/match/grouped_events.h"
#include "merge/match/nccl_words.h"
#include "merge/match/range_calls.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::match {
namespace {

using runfile::Coll;
using spool::NcclEvent;

class Assembly {
 public:
  Assembly(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, const PluginEvents& plugin)
      : trace_(trace),
        plugin_(plugin),
        ranges_(trace, ranges, &members_, &calls_),
        group_count_(ranges_.group_count()),
        group_numbers_(plugin),
        plan_sizes_(plugin),
        rows_(plugin, kNoCall),
        has_enqueued_(plugin),
        is_taken_(plugin) {}

  NcclCalls run() && {
    for (const rundir::Communicator& c : trace_.communicators()) members_.take_plugin(c);
    std::vector<const PluginEvent*> without_api;
    std::size_t enqueued_count = 0;
    for (const PluginEvent& event : plugin_.all()) {
      if (!is_enqueued(event)) continue;
      ++enqueued_count;
      if (event.plan != 0) ++plan_sizes_[event.plan];
      if (!is_replay(event)) has_enqueued_[event.parent] = 1;
      if (api_of(event) == nullptr) without_api.push_back(&event);
    }
    if (calls_.empty()) calls_.reserve(enqueued_count);
    grouped_ = pair_grouped_events(trace_, &ranges_, calls_, std::move(without_api));
    for (const PluginEvent& event : plugin_.all()) {
      if (is_enqueued(event)) add_enqueued(event);
    }
    // Symmetric kernels, one-rank communicators and empty calls have a CollApi and nothing else.
    for (const PluginEvent& event : plugin_.all()) {
      const bool is_api = event.type == NcclEvent::kCollApi || event.type == NcclEvent::kP2pApi;
      if (is_api && has_enqueued_.at(event.handle) == 0) add_api_only(event);
    }
    settle_launches();
    settle_replays();
    settle_members();
    const std::vector<std::size_t> order = order_by_time();
    number_calls(ranges_.ordinals(), order, members_, &calls_);
    settle_devices();
    count_captures(order);
    put_in_order(order);
    NcclCalls result;
    result.calls = std::move(calls_);
    result.comms = members_.all();
    return result;
  }

 private:
  // ---- plugin

  static bool is_enqueued(const PluginEvent& event) {
    return event.type == NcclEvent::kColl || event.type == NcclEvent::kP2p || event.type == NcclEvent::kCeColl;
  }

  // The API event of an enqueued one; null if it is not known.
  const PluginEvent* api_of(const PluginEvent& event) const {
    const PluginEvent* api = plugin_.find(event.parent);
    const bool is_api = api != nullptr && (api->type == NcclEvent::kCollApi || api->type == NcclEvent::kP2pApi);
    return is_api ? api : nullptr;
  }

  // A captured call is enqueued within its group, if at all; what comes later under its handle is a launch of the
  // graph.
  bool is_replay(const PluginEvent& event) const {
    const PluginEvent* api = api_of(event);
    if (api == nullptr || !api->is_captured) return false;
    const PluginEvent* group = plugin_.find(api->parent);
    return group != nullptr && group->type == NcclEvent::kGroupApi && group->has_stop && event.start > group->stop;
  }

  // A call that only its range tells of so far becomes the plugin's as well.
  NcclCall& claim(std::size_t index) {
    calls_[index].source = runfile::NcclSource::kNcclPluginAndNvtx;
    return calls_[index];
  }

  // The row for a plugin event: the unclaimed range that it was called in, if that is the same function, else the one
  // that its group's end enqueued, else a new one.
  NcclCall& row_for(const PluginEvent& at, Coll coll) {
    const std::size_t range = ranges_.around(at.thread, at.start);
    const bool is_unclaimed = range != kNoCall && calls_[range].source == runfile::NcclSource::kNvtx;
    if (is_unclaimed && calls_[range].coll == coll) return claim(range);
    if (const auto grouped = grouped_.find(at.handle); grouped != grouped_.end()) return claim(grouped->second);
    const bool is_part = range != kNoCall && is_point_to_point(coll) && !is_point_to_point(calls_[range].coll);
    NcclCall& call = calls_.emplace_back();
    call.coll = coll;
    call.thread = at.thread;
    call.source = runfile::NcclSource::kNcclPlugin;
    call.enqueue_start = at.start;
    call.enqueue_end = at.stop;
    call.has_enqueue_end = at.has_stop;
    if (is_part) call.parent = range;
    return call;
  }

  void add_enqueued(const PluginEvent& event) {
    const PluginEvent* api = api_of(event);
    const bool has_api = api != nullptr;
    // A graph's replay brings the event again under the parent of its capture: that call has its row already.
    const bool is_first = has_api && !is_replay(event) && std::exchange(is_taken_[api->handle], 1) == 0;
    const PluginEvent& at = is_first ? *api : event;
    NcclCall& call = row_for(at, coll_of(event.codes.function));
    if (is_first) {
      rows_[api->handle] = static_cast<std::size_t>(&call - calls_.data());
    } else if (has_api && api->is_captured) {
      replays_.push_back({static_cast<std::size_t>(&call - calls_.data()), api->handle});
    }
    if (has_api) fill_from_api(*api, &call);
    call.enqueued = event.handle;
    call.plan = event.plan;
    fill_from_context(event.communicator, &call);
    if (event.type == NcclEvent::kColl) {
      call.sequence = event.sequence;
      call.algo = algo_of(event.codes.algorithm);
      call.proto = proto_of(event.codes.protocol);
      call.channels = event.codes.channels;
    }
    if (event.type == NcclEvent::kCeColl) {
      call.sequence = event.sequence;
      call.algo = runfile::Algo::kCe;
      if (call.stream == 0) call.stream = event.stream;
    }
    if (!has_api) {
      // NCCL up to 2.27 tells these two in bytes, as Int8, whatever their type is.
      const bool is_bytes = (call.coll == Coll::kAllGather || call.coll == Coll::kBroadcast) &&
                            dtype_of(event.codes.type) == runfile::Dtype::kI8;
      if (is_bytes) {
        if (call.bytes == kNoAmount) call.bytes = event.count;
      } else {
        call.dtype = dtype_of(event.codes.type);
        call.count = event.count;
      }
      if (has_root(call.coll)) call.root = event.root;
    }
    if (event.type == NcclEvent::kP2p) call.peer = event.peer;
    if (event.plan != 0) call.calls_in_plan = plan_sizes_.at(event.plan);
    fill_bytes(has_api ? api->codes.type : event.codes.type, &call);
  }

  void add_api_only(const PluginEvent& api) {
    const Coll coll = coll_of(api.codes.function);
    NcclCall& call = row_for(api, coll);
    rows_[api.handle] = static_cast<std::size_t>(&call - calls_.data());
    fill_from_api(api, &call);
    fill_from_context(api.communicator, &call);
    fill_bytes(api.codes.type, &call);
  }

  void fill_from_api(const PluginEvent& api, NcclCall* call) {
    call->dtype = dtype_of(api.codes.type);
    call->count = api.count;
    if (api.type == NcclEvent::kCollApi && has_root(call->coll)) call->root = api.root;
    call->stream = api.stream;
    call->is_captured = api.is_captured;
    const PluginEvent* group = plugin_.find(api.parent);
    if (group == nullptr || group->type != NcclEvent::kGroupApi) return;
    call->group_api = group->handle;
    if (group->depth > 1 && call->group == kNoAmount) call->group = group_number(group->handle);
  }

  // Groups that only the plugin saw are numbered on, behind those that NVTX showed.
  std::uint64_t group_number(std::uint64_t handle) {
    std::uint64_t& number = group_numbers_[handle];
    if (number == 0) number = ++group_count_;
    return number;
  }

  void fill_from_context(std::uint32_t number, NcclCall* call) const {
    const rundir::Communicator* comm = trace_.communicator(number);
    if (comm == nullptr) return;
    call->communicator = number;
    call->comm_hash = comm->hash;
    call->comm_rank = comm->rank;
  }

  static void fill_bytes(spool::NcclType type, NcclCall* call) {
    if (call->bytes != kNoAmount || call->count == kNoAmount) return;
    const std::uint64_t width = element_bytes(type);
    if (width > 0) call->bytes = call->count * width;
  }

  // ---- the whole

  // Calls of a group are launched where it ends, and the parts of a call where it is.
  void settle_launches() {
    for (NcclCall& call : calls_) {
      const GroupEnd* group = call.group == kNoAmount ? nullptr : ranges_.group_end(call.group);
      if (group == nullptr) continue;
      call.launch_start = group->start;
      call.launch_end = group->end;
      call.has_launch_end = group->has_end;
    }
    for (NcclCall& call : calls_) {
      if (call.parent == kNoCall) continue;
      NcclCall& whole = calls_[call.parent];
      call.launch_start = whole.launch_start;
      call.launch_end = whole.launch_end;
      call.has_launch_end = whole.has_launch_end;
      whole.is_captured = whole.is_captured || call.is_captured;
    }
  }

  // The replays of a captured call are numbered in the order of their time.
  void settle_replays() {
    std::stable_sort(replays_.begin(), replays_.end(), [this](const ReplayRow& a, const ReplayRow& b) {
      return calls_[a.call].enqueue_start < calls_[b.call].enqueue_start;
    });
    std::unordered_map<std::uint64_t, std::uint64_t> next;
    for (const ReplayRow& replay : replays_) {
      NcclCall& call = calls_[replay.call];
      call.replay = next[replay.api]++;
      call.capture = rows_.at(replay.api);
    }
  }

  // Sends and receives are numbered by peer, and so are their captures.
  void count_captures(const std::vector<std::size_t>& order) {
    std::map<std::tuple<std::uint64_t, std::int32_t, Coll, std::int32_t, std::uint64_t>, std::uint64_t> next;
    for (const std::size_t index : order) {
      NcclCall& call = calls_[index];
      if (!call.is_captured || call.replay != kNoAmount || !call.comm_hash) continue;
      const std::int32_t peer = is_point_to_point(call.coll) ? call.peer : -1;
      call.capture_number = next[{*call.comm_hash, call.comm_rank, call.coll, peer, call.sequence}]++;
    }
    for (NcclCall& call : calls_) {
      if (call.capture == kNoCall) continue;
      const NcclCall& captured = calls_[call.capture];
      call.capture_number = captured.capture_number;
      // The plugin numbers no sends and receives, also when it tells of them again.
      if (!is_point_to_point(call.coll) || call.sequence != kNoAmount) continue;
      call.sequence = captured.sequence;
      call.is_sequence_counted = captured.is_sequence_counted;
    }
  }

  // Which member of its communicator made a call.
  void settle_members() {
    for (const NcclCall& call : calls_) {
      if (call.comm_hash) members_.take_call(*call.comm_hash);
    }
    members_.settle();
    for (NcclCall& call : calls_) {
      if (call.comm_hash && call.comm_rank < 0) call.comm_rank = members_.only_rank(*call.comm_hash);
    }
  }

  void settle_devices() {
    for (NcclCall& call : calls_) {
      if (call.comm_hash) call.device = members_.device(*call.comm_hash, call.comm_rank);
    }
  }

  std::vector<std::size_t> order_by_time() const {
    std::vector<std::uint64_t> starts;
    starts.reserve(calls_.size());
    for (const NcclCall& call : calls_) starts.push_back(call.enqueue_start);
    return scratch::sorted_places(std::span<const std::uint64_t>(starts));
  }

  void put_in_order(const std::vector<std::size_t>& order) {
    if (std::is_sorted(order.begin(), order.end())) return;
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::vector<NcclCall> sorted;
    sorted.reserve(calls_.size());
    for (const std::size_t index : order) sorted.push_back(calls_[index]);
    for (NcclCall& call : sorted) {
      if (call.parent != kNoCall) call.parent = position[call.parent];
      if (call.capture != kNoCall) call.capture = position[call.capture];
    }
    calls_ = std::move(sorted);
  }

  // A row that the plugin's event made under the handle of a captured call.
  struct ReplayRow {
    std::size_t call;
    std::uint64_t api;
  };

  const rundir::SpoolTrace& trace_;
  const PluginEvents& plugin_;
  std::vector<NcclCall> calls_;
  CommMembers members_;
  RangeCalls ranges_;
  std::uint64_t group_count_;
  std::unordered_map<std::uint64_t, std::size_t> grouped_;  // by handle of the enqueued event
  ByHandle<std::uint64_t> group_numbers_;                   // of the GroupApi; 0: it has none yet
  ByHandle<std::uint64_t> plan_sizes_;                      // of the Group
  ByHandle<std::size_t> rows_;                              // of the API event
  ByHandle<std::uint8_t> has_enqueued_;                     // of the API event, as a truth value
  ByHandle<std::uint8_t> is_taken_;                         // the same
  std::vector<ReplayRow> replays_;
};

}  // namespace

NcclCalls assemble_calls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, const PluginEvents& plugin) {
  return Assembly(trace, ranges, plugin).run();
}

}  // namespace jaxprof::match
