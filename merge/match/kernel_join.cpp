#include "merge/match/kernel_join.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "merge/match/launch_calls.h"

namespace jaxprof::match {
namespace {

using runfile::JoinPath;

class Join {
 public:
  Join(const rundir::SpoolTrace& trace, const NcclCalls& calls, const PluginEvents& plugin, const GpuWork& work,
       const runfile::StringTable& strings, const std::function<std::int64_t(std::uint64_t)>& axis_ns)
      : trace_(trace),
        calls_(calls.calls),
        work_(work),
        axis_ns_(axis_ns),
        launches_(calls, plugin),
        plugin_(plugin),
        index_(work, trace.gpu(), strings),
        is_joined_(calls.calls.size()),
        is_kernel_taken_(work.kernels.start_ns.size()),
        is_memop_taken_(work.memops.start_ns.size()) {}

  NcclJoin run() && {
    join_external();
    join_graphs();
    join_scopes();
    join_order();
    join_parents();
    const auto is_before = [](const NcclWork& a, const NcclWork& b) {
      return std::tie(a.call, a.work, a.path) < std::tie(b.call, b.work, b.path);
    };
    if (!std::is_sorted(join_.work.begin(), join_.work.end(), is_before)) {
      std::sort(join_.work.begin(), join_.work.end(), is_before);
    }
    const auto is_same = [](const NcclWork& a, const NcclWork& b) { return a.call == b.call && a.work == b.work; };
    join_.work.erase(std::unique(join_.work.begin(), join_.work.end(), is_same), join_.work.end());
    return std::move(join_);
  }

 private:
  void add(std::size_t call, const WorkRow& work, JoinPath path) {
    join_.work.push_back({call, work, path});
    if (call < calls_.size()) is_joined_[call] = true;
    (work.is_memop ? is_memop_taken_ : is_kernel_taken_)[work.row] = true;
  }

  bool is_taken(const WorkRow& work) const { return (work.is_memop ? is_memop_taken_ : is_kernel_taken_)[work.row]; }

  // ---- external

  void join_external() {
    join_.work.reserve(work_.externals.size());
    for (const GpuWork::External& external : work_.externals) {
      const std::span<const std::size_t> calls = launches_.of(external.handle);
      if (calls.empty()) continue;
      const PluginEvent* event = plugin_.find(external.handle);
      const std::int64_t called_ns = event == nullptr ? 0 : axis_ns_(event->start);
      for (const WorkRow& work : index_.with_correlation(external.correlation, called_ns)) {
        for (const std::size_t call : calls) add(call, work, JoinPath::kExternal);
      }
    }
  }

  // ---- graph

  // The launch of NCCL that a node, or the one that it is a clone of, was made in; 0: none.
  std::uint64_t launch_of(const spool::GraphNodeState& state) const {
    const spool::GraphNodeState* node = &state;
    constexpr int kMaxClones = 16;  // a graph within graphs, instantiated; more is a damaged spool
    for (int i = 0; i < kMaxClones && node->launch == 0 && node->original != 0; ++i) {
      const auto original = nodes_.find(node->original);
      if (original == nodes_.end()) break;
      node = original->second;
    }
    return node->launch;
  }

  void join_graphs() {
    const auto& states = trace_.gpu().graph_nodes;
    for (const spool::GraphNodeState& state : states) nodes_[state.node] = &state;
    std::map<std::uint64_t, std::vector<WorkRow>> by_launch;
    for (const auto& [number, state] : nodes_) {
      const std::uint64_t launch = launch_of(*state);
      if (launch == 0) continue;
      const std::span<const WorkRow> rows = index_.of_node(number);
      by_launch[launch].insert(by_launch[launch].end(), rows.begin(), rows.end());
    }
    if (by_launch.empty()) return;
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> rows_of;  // by capture and replay
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].capture != kNoCall) rows_of[{calls_[i].capture, calls_[i].replay}] = i;
    }
    for (auto& [launch, rows] : by_launch) {
      std::stable_sort(rows.begin(), rows.end(), [this](const WorkRow& a, const WorkRow& b) {
        return index_.launch_order(a) < index_.launch_order(b);
      });
      for (const std::size_t capture : captures_of(launch)) {
        for (std::uint64_t replay = 0; replay < rows.size(); ++replay) {
          const auto [row, is_new] = rows_of.try_emplace({capture, replay}, calls_.size() + join_.replays.size());
          if (is_new) join_.replays.push_back({capture, replay});
          add(row->second, rows[replay], JoinPath::kGraph);
        }
      }
    }
  }

  // The calls that were captured, and the ones that they are parts of.
  std::vector<std::size_t> captures_of(std::uint64_t launch) const {
    const std::span<const std::size_t> launched = launches_.of(launch);
    std::vector<std::size_t> captures(launched.begin(), launched.end());
    const std::size_t count = captures.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t parent = calls_[captures[i]].parent;
      if (parent != kNoCall) captures.push_back(parent);
    }
    std::sort(captures.begin(), captures.end());
    captures.erase(std::unique(captures.begin(), captures.end()), captures.end());
    return captures;
  }

  // ---- scope

  struct Scope {
    std::uint32_t thread = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;  // UINT64_MAX: with the process
    bool has_end = true;    // it was recorded; else it had ended by `end`
    auto operator<=>(const Scope&) const = default;
  };

  std::vector<Scope> scopes_of(std::size_t index) {
    const NcclCall& call = calls_[index];
    if (call.launch_end != 0) return {{call.thread, call.launch_start, call.launch_end, call.has_launch_end}};
    std::vector<Scope> scopes;
    const auto add_bracket = [&scopes](const PluginEvent& event) {
      if (event.has_stop) scopes.push_back({event.thread, event.start, event.stop});
    };
    for (const PluginEvent* launch : launches_.launches_of(index)) add_bracket(*launch);
    if (!scopes.empty()) return scopes;
    if (const PluginEvent* group = plugin_.find(call.group_api); group != nullptr) add_bracket(*group);
    return scopes;
  }

  // What NCCL launched there: its kernels, or where there is none copies (one-rank communicators, copy engines). Behind
  // an end that was not recorded the copies may be anybody's.
  std::vector<WorkRow> launched_in(const Scope& scope) {
    std::vector<WorkRow> kernels;
    std::vector<WorkRow> copies;
    const bool is_open = scope.end == UINT64_MAX;
    const std::int64_t end_ns = is_open ? std::numeric_limits<std::int64_t>::max() : axis_ns_(scope.end);
    for (const WorkRow& work : index_.launched_in(trace_.tid(scope.thread), axis_ns_(scope.start), end_ns)) {
      if (is_taken(work)) continue;
      if (index_.is_nccl(work)) kernels.push_back(work);
      if (work.is_memop && scope.has_end) copies.push_back(work);
    }
    return kernels.empty() ? copies : kernels;
  }

  void join_scopes() {
    std::map<Scope, std::vector<std::size_t>> calls_in;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (is_joined_[i] || calls_[i].is_captured) continue;
      for (const Scope& scope : scopes_of(i)) calls_in[scope].push_back(i);
    }
    // A range within another is looked at first, so that the outer one does not take its work.
    std::vector<std::pair<Scope, std::vector<std::size_t>>> order(calls_in.begin(), calls_in.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first.end - a.first.start < b.first.end - b.first.start;
    });
    for (const auto& [scope, calls] : order) {
      const std::vector<WorkRow> launched = launched_in(scope);
      for (const std::size_t call : calls) {
        for (const WorkRow& work : own_work(call, launched)) add(call, work, JoinPath::kScope);
      }
    }
  }

  // Of what a group launched, perhaps for several GPUs, what ran on the call's own GPU, if that is known, and there on
  // its own stream, if that is known.
  std::vector<WorkRow> own_work(std::size_t call, const std::vector<WorkRow>& launched) const {
    const std::int32_t device = calls_[call].device;
    const std::uint64_t stream = calls_[call].stream;
    std::vector<WorkRow> on_device;
    std::copy_if(launched.begin(), launched.end(), std::back_inserter(on_device), [&](const WorkRow& work) {
      return device < 0 || index_.device(work) < 0 || index_.device(work) == device;
    });
    if (stream == 0 || !index_.knows_stream(stream)) return on_device;
    std::vector<WorkRow> own;
    std::copy_if(on_device.begin(), on_device.end(), std::back_inserter(own),
                 [&](const WorkRow& work) { return index_.is_on(work, stream); });
    return own.empty() ? on_device : own;
  }

  // ---- order

  // Calls that were launched together: one kernel.
  struct Unit {
    std::int64_t enqueue_ns = 0;
    std::vector<std::size_t> calls;
  };

  static bool is_kernel_of_stream(const NcclCall& call) {
    return call.stream != 0 && !call.is_captured && call.algo != runfile::Algo::kCe;
  }

  void join_order() {
    std::set<std::uint64_t> streams;  // that have anything left
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!is_joined_[i] && is_kernel_of_stream(calls_[i])) streams.insert(calls_[i].stream);
    }
    if (streams.empty()) return;
    std::map<std::uint64_t, std::map<std::pair<int, std::uint64_t>, Unit>> by_stream;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const NcclCall& call = calls_[i];
      if (!is_kernel_of_stream(call) || !streams.contains(call.stream)) continue;
      std::pair<int, std::uint64_t> key{2, i};
      if (call.group != kNoAmount) key = {1, call.group};
      if (call.plan != 0) key = {0, call.plan};
      Unit& unit = by_stream[call.stream][key];
      const std::int64_t enqueue_ns = axis_ns_(call.enqueue_start);
      unit.enqueue_ns = unit.calls.empty() ? enqueue_ns : std::min(unit.enqueue_ns, enqueue_ns);
      unit.calls.push_back(i);
    }
    for (const auto& [stream, by_key] : by_stream) {
      std::vector<Unit> units;
      for (const auto& [key, unit] : by_key) {
        const bool is_free =
            std::none_of(unit.calls.begin(), unit.calls.end(), [this](std::size_t call) { return is_joined_[call]; });
        if (is_free) units.push_back(unit);
      }
      std::stable_sort(units.begin(), units.end(),
                       [](const Unit& a, const Unit& b) { return a.enqueue_ns < b.enqueue_ns; });
      join_stream(stream, units);
    }
  }

  // Kernels from before the first call belong to calls that were not recorded, and the last calls' kernels may not have
  // been. Anything else that does not fit leaves the stream as it is: no kernel may be launched before its call, and
  // there may be no kernel too many.
  void join_stream(std::uint64_t stream, const std::vector<Unit>& units) {
    if (units.empty()) return;
    std::vector<WorkRow> kernels;
    for (const WorkRow& work : index_.nccl_kernels_on(stream)) {
      const bool is_usable = !is_taken(work) && index_.launch_ns(work) >= units.front().enqueue_ns;
      if (is_usable) kernels.push_back(work);
    }
    if (kernels.size() > units.size()) return;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (index_.launch_ns(kernels[k]) < units[k].enqueue_ns) return;
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      for (const std::size_t call : units[k].calls) add(call, kernels[k], JoinPath::kOrder);
    }
  }

  // ---- parts

  void join_parents() {
    const std::size_t count = join_.work.size();
    for (std::size_t i = 0; i < count; ++i) {
      const NcclWork part = join_.work[i];
      if (part.call >= calls_.size()) continue;
      const std::size_t parent = calls_[part.call].parent;
      if (parent != kNoCall && !calls_[part.call].is_captured) add(parent, part.work, part.path);
    }
  }

  const rundir::SpoolTrace& trace_;
  const std::vector<NcclCall>& calls_;
  const GpuWork& work_;
  const std::function<std::int64_t(std::uint64_t)>& axis_ns_;
  LaunchCalls launches_;
  const PluginEvents& plugin_;
  WorkIndex index_;
  std::vector<bool> is_joined_;  // by call
  std::vector<bool> is_kernel_taken_;
  std::vector<bool> is_memop_taken_;
  std::map<std::uint64_t, const spool::GraphNodeState*> nodes_;  // by number
  NcclJoin join_;
};

}  // namespace

NcclJoin join_kernels(const rundir::SpoolTrace& trace, const NcclCalls& calls, const PluginEvents& plugin,
                      const GpuWork& work, const runfile::StringTable& strings,
                      const std::function<std::int64_t(std::uint64_t)>& axis_ns) {
  const bool has_work = !work.kernels.start_ns.empty() || !work.memops.start_ns.empty();
  if (!has_work || calls.calls.empty()) return {};
  return Join(trace, calls, plugin, work, strings, axis_ns).run();
}

}  // namespace jaxprof::match
