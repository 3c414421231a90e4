#include "merge/match/nccl_calls.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "merge/match/nccl_words.h"

namespace jaxprof::match {
namespace {

using runfile::Coll;
using spool::NcclEvent;

constexpr std::string_view kDomain = "NCCL";

// Names of the fields in NCCL's payload schemas, the same in every release that has them (nccl.h's NVTX headers; read
// in 2.16 to 2.31). Their numbers and layouts are not.
constexpr std::string_view kBytesField = "Message size [bytes]";
constexpr std::string_view kRedopField = "Reduction operation";
constexpr std::string_view kRootField = "Root";
constexpr std::string_view kPeerField = "Peer rank";

class Assembly {
 public:
  Assembly(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, const PluginEvents& plugin)
      : trace_(trace), plugin_(plugin) {
    for (std::size_t i = 0; i < ranges.ranges.size(); ++i) {
      const NvtxRange& range = ranges.ranges[i];
      if (range.kind == RangeKind::kPushPop && trace.domain_name(range.domain) == kDomain) take_range(range);
    }
  }

  NcclCalls run() && {
    for (const rundir::Communicator& c : trace_.communicators()) members_.take_plugin(c);
    for (const PluginEvent& event : plugin_.all()) {
      if (!is_enqueued(event)) continue;
      if (event.plan != 0) ++plan_sizes_[event.plan];
      if (!is_replay(event)) has_enqueued_[event.parent] = true;
    }
    for (const PluginEvent& event : plugin_.all()) {
      if (is_enqueued(event)) add_enqueued(event);
    }
    // Symmetric kernels, one-rank communicators and empty calls have a CollApi and nothing else.
    for (const PluginEvent& event : plugin_.all()) {
      const bool is_api = event.type == NcclEvent::kCollApi || event.type == NcclEvent::kP2pApi;
      if (is_api && !has_enqueued_[event.handle]) add_api_only(event);
    }
    settle_launches();
    settle_replays();
    settle_members();
    count_sequences();
    count_captures();
    sort_by_time();
    NcclCalls result;
    result.calls = std::move(calls_);
    result.comms = members_.all();
    return result;
  }

 private:
  // A call that an NVTX range stands for, and whether the plugin has claimed it.
  struct RangeCall {
    std::uint64_t start;
    std::uint64_t end;
    std::size_t call;
    bool is_claimed = false;
  };
  // The explicit group that a thread has open by its NVTX ranges.
  struct OpenGroup {
    std::uint64_t number = 0;
    std::uint32_t depth = 0;
  };

  // ---- NVTX

  void take_range(const NvtxRange& range) {
    const std::string_view api = trace_.text(range.message);
    OpenGroup& group = open_groups_[range.thread];
    if (api == "ncclGroupStart") {
      if (group.depth++ == 0) group.number = ++group_count_;
      return;
    }
    if (api == "ncclGroupEnd") {
      if (group.depth > 0 && --group.depth == 0) group_ends_[group.number] = {range.start, end_of(range)};
      return;
    }
    const std::optional<Coll> coll = coll_of_api(api);
    if (!coll) {
      members_.take_range(api, range);
      return;
    }
    NcclCall call;
    call.coll = *coll;
    call.api = api;
    call.comm_hash = comm_hash_of(range);
    if (const PayloadField* bytes = find_field(range.fields, kBytesField); bytes != nullptr) {
      call.bytes = static_cast<std::uint64_t>(bytes->value);
    }
    if (const PayloadField* op = find_field(range.fields, kRedopField); op != nullptr) {
      call.redop = redop_of(op->enum_name, op->value);
    }
    call.root = number_of_field(range.fields, kRootField);
    call.peer = number_of_field(range.fields, kPeerField);
    if (group.depth > 0) {
      call.group = group.number;
    } else {
      call.launch_start = range.start;
      call.launch_end = end_of(range);
    }
    call.thread = range.thread;
    call.source = runfile::NcclSource::kNvtx;
    call.enqueue_start = range.start;
    call.enqueue_end = range.end;
    call.has_enqueue_end = range.has_end;
    range_calls_[range.thread].push_back({range.start, end_of(range), calls_.size()});
    if (range.call_ordinal != 0) ordinals_[calls_.size()] = range.call_ordinal - 1;
    calls_.push_back(std::move(call));
  }

  static std::uint64_t end_of(const NvtxRange& range) { return range.has_end ? range.end : UINT64_MAX; }

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

  // The call whose range was open on `thread` at `stamp`; ranges of one thread do not overlap unless they nest, and
  // then the outer one is the call that the user made.
  RangeCall* range_around(std::uint32_t thread, std::uint64_t stamp) {
    const auto found = range_calls_.find(thread);
    if (found == range_calls_.end()) return nullptr;
    std::vector<RangeCall>& ranges = found->second;
    auto after = std::upper_bound(ranges.begin(), ranges.end(), stamp,
                                  [](std::uint64_t value, const RangeCall& range) { return value < range.start; });
    if (after == ranges.begin()) return nullptr;
    RangeCall& range = *(after - 1);
    return stamp <= range.end ? &range : nullptr;
  }

  // The row for a plugin event: the unclaimed range that it was called in, if that is the same function, else a new
  // one.
  NcclCall& row_for(const PluginEvent& at, Coll coll) {
    RangeCall* range = range_around(at.thread, at.start);
    if (range != nullptr && !range->is_claimed && calls_[range->call].coll == coll) {
      range->is_claimed = true;
      calls_[range->call].source = runfile::NcclSource::kNcclPluginAndNvtx;
      return calls_[range->call];
    }
    NcclCall call;
    call.coll = coll;
    call.thread = at.thread;
    call.source = runfile::NcclSource::kNcclPlugin;
    call.enqueue_start = at.start;
    call.enqueue_end = at.stop;
    call.has_enqueue_end = at.has_stop;
    const bool is_part = range != nullptr && is_point_to_point(coll) && !is_point_to_point(calls_[range->call].coll);
    if (is_part) call.parent = range->call;
    calls_.push_back(std::move(call));
    return calls_.back();
  }

  void add_enqueued(const PluginEvent& event) {
    const PluginEvent* api = api_of(event);
    const bool has_api = api != nullptr;
    // A graph's replay brings the event again under the parent of its capture: that call has its row already.
    const bool is_first = has_api && !is_replay(event) && !std::exchange(is_taken_[api->handle], true);
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
      call.dtype = dtype_of(event.codes.type);
      call.count = event.count;
      if (has_root(call.coll)) call.root = event.root;
    }
    if (event.type == NcclEvent::kP2p) call.peer = event.peer;
    if (const auto plan = plan_sizes_.find(event.plan); plan != plan_sizes_.end()) call.calls_in_plan = plan->second;
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
    const auto [found, is_new] = group_numbers_.try_emplace(handle, group_count_ + 1);
    if (is_new) ++group_count_;
    return found->second;
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
      const auto group = call.group == kNoAmount ? group_ends_.end() : group_ends_.find(call.group);
      if (group == group_ends_.end()) continue;
      call.launch_start = group->second.first;
      call.launch_end = group->second.second;
    }
    for (NcclCall& call : calls_) {
      if (call.parent == kNoCall) continue;
      NcclCall& whole = calls_[call.parent];
      call.launch_start = whole.launch_start;
      call.launch_end = whole.launch_end;
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
      const auto captured = rows_.find(replay.api);
      if (captured != rows_.end()) call.capture = captured->second;
    }
  }

  // Without the plugin nobody numbers the calls, but the agent counted them, recorded or not; in spools of agents that
  // did not, the k-th call of a function on a communicator is its k-th on every member. Where the plugin numbers some
  // calls of a kind, the rest stay without; so do those of a process that holds several members, of which NVTX does not
  // say which one called.
  void count_sequences() {
    std::map<std::pair<std::uint64_t, Coll>, bool> is_numbered;
    for (const NcclCall& call : calls_) {
      if (call.comm_hash && call.sequence != kNoAmount) is_numbered[{*call.comm_hash, call.coll}] = true;
    }
    std::map<std::pair<std::uint64_t, Coll>, bool> has_ordinals;
    for (const auto& [index, ordinal] : ordinals_) {
      const NcclCall& call = calls_[index];
      if (call.comm_hash) has_ordinals[{*call.comm_hash, call.coll}] = true;
    }
    std::map<std::pair<std::uint64_t, Coll>, std::uint64_t> next;
    for (const std::size_t index : order_by_time()) {
      NcclCall& call = calls_[index];
      if (!call.comm_hash || call.sequence != kNoAmount) continue;
      const std::pair key{*call.comm_hash, call.coll};
      if (is_numbered[key] || members_.count(*call.comm_hash) > 1) continue;
      const auto ordinal = ordinals_.find(index);
      if (ordinal != ordinals_.end()) {
        call.sequence = ordinal->second;
      } else if (is_point_to_point(call.coll) || has_ordinals[key]) {
        continue;
      } else {
        call.sequence = next[key]++;
      }
      call.is_sequence_counted = true;
    }
  }

  void count_captures() {
    std::map<std::tuple<std::uint64_t, std::int32_t, Coll, std::uint64_t>, std::uint64_t> next;
    for (const std::size_t index : order_by_time()) {
      NcclCall& call = calls_[index];
      if (!call.is_captured || call.replay != kNoAmount || !call.comm_hash) continue;
      call.capture_number = next[{*call.comm_hash, call.comm_rank, call.coll, call.sequence}]++;
    }
    for (NcclCall& call : calls_) {
      if (call.capture != kNoCall) call.capture_number = calls_[call.capture].capture_number;
    }
  }

  // Which member of its communicator made a call, and on which GPU.
  void settle_members() {
    for (const NcclCall& call : calls_) {
      if (call.comm_hash) members_.take_call(*call.comm_hash);
    }
    members_.settle();
    for (NcclCall& call : calls_) {
      if (!call.comm_hash) continue;
      if (call.comm_rank < 0) call.comm_rank = members_.only_rank(*call.comm_hash);
      call.device = members_.device(*call.comm_hash, call.comm_rank);
    }
  }

  std::vector<std::size_t> order_by_time() const {
    std::vector<std::size_t> order(calls_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return calls_[a].enqueue_start < calls_[b].enqueue_start;
    });
    return order;
  }

  void sort_by_time() {
    const std::vector<std::size_t> order = order_by_time();
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::vector<NcclCall> sorted;
    sorted.reserve(calls_.size());
    for (const std::size_t index : order) sorted.push_back(std::move(calls_[index]));
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
  std::map<std::uint32_t, std::vector<RangeCall>> range_calls_;  // by thread, by start
  std::map<std::uint32_t, OpenGroup> open_groups_;               // by thread
  std::uint64_t group_count_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> group_numbers_;                         // by handle of the GroupApi
  std::unordered_map<std::uint64_t, std::uint64_t> plan_sizes_;                            // by handle of the Group
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> group_ends_;  // ncclGroupEnd, by number
  std::unordered_map<std::size_t, std::uint64_t> ordinals_;                                // of ranges, by their rows
  std::unordered_map<std::uint64_t, std::size_t> rows_;                                    // by handle of the API event
  std::vector<ReplayRow> replays_;
  std::unordered_map<std::uint64_t, bool> has_enqueued_;  // by handle of the API event
  std::unordered_map<std::uint64_t, bool> is_taken_;      // by handle of the API event
};

}  // namespace

NcclCalls assemble_calls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, const PluginEvents& plugin) {
  return Assembly(trace, ranges, plugin).run();
}

}  // namespace jaxprof::match
