// Calls first, each into its kind; then instances, each into the kind of its first call that is asked for.
#include "merge/study/call_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "merge/study/bandwidth.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::uint32_t kNoKind = 0xFFFFFFFFU;

struct HashKind {
  std::size_t operator()(const CallKind& kind) const {
    std::uint64_t hash = kind.size_bytes * 0x9E3779B97F4A7C15ULL;
    hash ^= (static_cast<std::uint64_t>(kind.coll) << 40) ^ (static_cast<std::uint64_t>(kind.dtype) << 32) ^
            (static_cast<std::uint64_t>(kind.algo) << 24) ^ (static_cast<std::uint64_t>(kind.proto) << 16) ^
            (static_cast<std::uint64_t>(kind.is_grouped) << 8) ^ kind.n_ranks;
    hash ^= static_cast<std::uint64_t>(kind.part) * 0xC2B2AE3D27D4EB4FULL;
    return hash ^ (hash >> 29);
  }
};

// What the calls of one kernel carry together.
struct KernelLoad {
  std::uint32_t n_calls = 0;
  double bytes = 0;
  double bus_bytes = 0;
};

class Collection {
 public:
  Collection(const RunTables& run, const Scope& scope, const StudyOptions& options, By by)
      : run_(run), scope_(scope), options_(options), by_(by) {}

  CallTimes take() {
    add_calls();
    load_kernels();
    add_instances();
    settle_captures();
    std::erase_if(times_.kinds, [](const KindTimes& kind) { return kind.n_calls == 0; });
    std::sort(times_.kinds.begin(), times_.kinds.end(),
              [](const KindTimes& a, const KindTimes& b) { return a.kind < b.kind; });
    return std::move(times_);
  }

 private:
  struct Captures {
    std::int64_t n_calls = 0;
    std::int64_t n_replays = 0;
    std::vector<std::int64_t> host_ns;
  };

  void add_calls();
  void add_call(std::size_t row, std::size_t process, std::int32_t step);
  void load_kernels();
  void add_instances();
  void add_instance(std::size_t instance);
  void settle_captures();
  CallKind kind_of(std::size_t row, std::size_t process) const;
  std::uint32_t index_of(const CallKind& kind);
  std::uint32_t ranks_of(std::size_t row) const {
    return run_.nccl.comm[row] == kNoIndex ? kNoIndex : run_.comms.n_ranks[run_.nccl.comm[row]];
  }
  bool is_grouped(std::size_t row) const {
    const std::uint64_t instance = run_.nccl.instance[row];
    return instance != kNoRow && (run_.collectives.flags[instance] & kInstanceGrouped) != 0;
  }

  const RunTables& run_;
  const Scope& scope_;
  const StudyOptions& options_;
  const By by_;
  CallTimes times_;
  std::vector<Captures> captures_;          // by kind
  std::vector<double> instances_;           // of each kind: how many are in grouped_bytes
  std::vector<std::uint32_t> kind_of_row_;  // [rows of /events/nccl]
  std::unordered_map<CallKind, std::uint32_t, HashKind> known_;
  CallKind last_kind_;
  std::uint32_t last_index_ = kNoKind;
  std::unordered_map<std::uint64_t, KernelLoad> loads_;      // of kernels of grouped calls
  std::unordered_map<std::uint64_t, std::uint64_t> kernel_;  // of a grouped call
};

// Have all members of the instance GPU times that can be compared?
bool is_comparable(const RunTables& run, std::uint64_t instance) {
  const std::uint16_t flags = run.collectives.flags[instance];
  const bool has_clocks = (flags & kInstanceUnresolved) == 0 || !std::isnan(run.collectives.clock_bound_ns[instance]);
  return run.collectives.last_start_ns[instance] >= 0 && (flags & kInstancePartial) == 0 && has_clocks;
}

CallKind Collection::kind_of(std::size_t row, std::size_t process) const {
  const NcclTable& t = run_.nccl;
  CallKind kind{t.coll[row],   t.dtype[row],      t.algo[row],    t.proto[row],
                ranks_of(row), t.size_bytes[row], is_grouped(row)};
  if (by_ == By::kRank) kind.part = run_.processes.rank[process];
  if (by_ == By::kNode)
    kind.part = run_.processes.node[process] == kNoIndex ? -1 : std::int64_t{run_.processes.node[process]};
  if (by_ == By::kComm) kind.part = t.comm[row] == kNoIndex ? -1 : std::int64_t{t.comm[row]};
  return kind;
}

std::uint32_t Collection::index_of(const CallKind& kind) {
  if (last_index_ != kNoKind && kind == last_kind_) return last_index_;
  const auto [at, is_new] = known_.try_emplace(kind, static_cast<std::uint32_t>(times_.kinds.size()));
  if (is_new) {
    times_.kinds.emplace_back().kind = kind;
    captures_.emplace_back();
    instances_.push_back(0);
  }
  last_kind_ = kind;
  last_index_ = at->second;
  return last_index_;
}

void Collection::add_calls() {
  const NcclTable& t = run_.nccl;
  kind_of_row_.assign(t.coll.size(), kNoKind);
  for (std::size_t process = 0; process < run_.processes.process.size(); ++process) {
    if (!is_rank_wanted(run_.processes.rank[process], options_)) continue;
    for (std::uint64_t row = run_.nccl_process_offset[process]; row < run_.nccl_process_offset[process + 1]; ++row) {
      if (t.parent[row] != kNoRow || (options_.op && t.coll[row] != *options_.op)) continue;
      const std::int32_t step = scope_.step_at(process, t.start_ns[row]);
      const bool is_in = step >= 0 || (options_.has_all_steps && !options_.segment && !options_.window);
      if (!is_in) {
        ++times_.n_out_of_scope;
        continue;
      }
      add_call(row, process, step);
    }
  }
}

void Collection::add_call(std::size_t row, std::size_t process, std::int32_t step) {
  const NcclTable& t = run_.nccl;
  const std::uint32_t index = index_of(kind_of(row, process));
  kind_of_row_[row] = index;
  KindTimes& times = times_.kinds[index];
  const bool is_capture = t.graph[row] == 1 && t.replay[row] == kNoRow;
  if (t.replay[row] != kNoRow) ++captures_[index].n_replays;
  ++(is_capture ? captures_[index].n_calls : times.n_calls);
  if (t.end_api_ns[row] >= 0) {
    (is_capture ? captures_[index].host_ns : times.host_ns).push_back(span_ns(t.start_ns[row], t.end_api_ns[row]));
  }
  if (t.gpu_dur_ns[row] < 0) return;
  times.raw_ns.push_back(t.gpu_dur_ns[row]);
  times.raw_step.push_back(static_cast<std::uint32_t>(std::max(step, 0)));
  const std::uint64_t instance = t.instance[row];
  if (instance == kNoRow || !is_comparable(run_, instance)) return;
  const std::int64_t last_ns = run_.collectives.last_start_ns[instance];
  const std::int64_t end_ns = instant_after(t.gpu_start_ns[row], t.gpu_dur_ns[row]);
  times.wait_ns.push_back(span_ns(t.gpu_start_ns[row], last_ns));
  times.net_ns.push_back(std::max<std::int64_t>(0, span_ns(last_ns, end_ns)));
  if (end_ns < last_ns) ++times.n_early_exits;
}

// Bytes of all calls that share a kernel with a grouped call of a kind.
void Collection::load_kernels() {
  const NcclWorkTable& work = run_.nccl_work;
  for (std::size_t i = 0; i < work.call.size(); ++i) {
    if (work.kernel[i] == kNoRow || kind_of_row_[work.call[i]] == kNoKind || !is_grouped(work.call[i])) continue;
    kernel_.try_emplace(work.call[i], work.kernel[i]);
    loads_.try_emplace(work.kernel[i]);
  }
  if (loads_.empty()) return;
  for (std::size_t i = 0; i < work.call.size(); ++i) {
    const auto load = loads_.find(work.kernel[i]);
    const std::uint64_t row = work.call[i];
    if (load == loads_.end() || run_.nccl.size_bytes[row] == kNoRow) continue;
    const auto bytes = static_cast<double>(run_.nccl.size_bytes[row]);
    ++load->second.n_calls;
    load->second.bytes += bytes;
    load->second.bus_bytes +=
        bytes * bus_factor(run_.nccl.coll[row], ranks_of(row) == kNoIndex ? 0 : ranks_of(row)).value_or(0);
  }
}

void Collection::add_instances() {
  if (by_ == By::kRank || by_ == By::kNode) return;  // an instance is of all its members
  for (std::size_t instance = 0; instance < run_.collectives.flags.size(); ++instance) add_instance(instance);
}

void Collection::add_instance(std::size_t instance) {
  const NcclTable& t = run_.nccl;
  const auto rows = std::span(run_.collective_members.event_row)
                        .subspan(run_.collective_member_offset[instance],
                                 run_.collective_member_offset[instance + 1] - run_.collective_member_offset[instance]);
  std::uint64_t first = kNoRow;
  std::int64_t fast_ns = std::numeric_limits<std::int64_t>::max();
  double sum_ns = 0;
  for (const std::uint64_t row : rows) {
    if (first == kNoRow && kind_of_row_[row] != kNoKind) first = row;
    if (t.gpu_dur_ns[row] < 0) return;  // not all members have GPU times
    fast_ns = std::min(fast_ns, t.gpu_dur_ns[row]);
    sum_ns += static_cast<double>(t.gpu_dur_ns[row]);
  }
  if (first == kNoRow || ranks_of(first) != rows.size() || fast_ns <= 0) return;
  KindTimes& times = times_.kinds[kind_of_row_[first]];
  times.fast_ns.push_back(fast_ns);
  times.mean_ns.push_back(std::llround(sum_ns / static_cast<double>(rows.size())));
  if (const auto kernel = kernel_.find(first); kernel != kernel_.end()) {
    times.grouped_bytes += loads_[kernel->second].bytes;
    times.grouped_bus_bytes += loads_[kernel->second].bus_bytes;
    ++instances_[kind_of_row_[first]];
  }
  if (!is_comparable(run_, instance)) return;
  times.xfer_ns.push_back(span_ns(run_.collectives.last_start_ns[instance], run_.collectives.last_end_ns[instance]));
  times.wall_ns.push_back(span_ns(run_.collectives.first_start_ns[instance], run_.collectives.last_end_ns[instance]));
}

// Where no replay was seen, what was captured is all that there is.
void Collection::settle_captures() {
  for (std::size_t i = 0; i < times_.kinds.size(); ++i) {
    KindTimes& times = times_.kinds[i];
    if (instances_[i] > 0) {
      times.grouped_bytes /= instances_[i];
      times.grouped_bus_bytes /= instances_[i];
    }
    if (captures_[i].n_replays > 0) continue;
    times.n_calls += captures_[i].n_calls;
    times.host_ns.insert(times.host_ns.end(), captures_[i].host_ns.begin(), captures_[i].host_ns.end());
  }
}

}  // namespace

CallTimes collect_calls(const RunTables& run, const Scope& scope, const StudyOptions& options, By by) {
  return Collection(run, scope, options, by).take();
}

bool call_kinds_want(std::string_view path) {
  if (path.starts_with("/job/") || path.starts_with("/comms/") || scope_wants(path)) return true;
  constexpr std::array<std::string_view, 25> kColumns = {"/collectives/comm",          "/events/nccl/process_offset",
                                                         "/collectives/member_offset", "/events/nccl/start_ns",
                                                         "/events/nccl/end_api_ns",    "/events/nccl/gpu_start_ns",
                                                         "/events/nccl/gpu_dur_ns",    "/events/nccl/comm",
                                                         "/events/nccl/coll",          "/events/nccl/dtype",
                                                         "/events/nccl/algo",          "/events/nccl/proto",
                                                         "/events/nccl/size_bytes",    "/events/nccl/parent",
                                                         "/events/nccl/instance",      "/events/nccl/graph",
                                                         "/events/nccl/replay",        "/collectives/first_start_ns",
                                                         "/collectives/last_start_ns", "/collectives/last_end_ns",
                                                         "/collectives/flags",         "/collectives/clock_bound_ns",
                                                         "/collectives/event_row",     "/nccl_work/call",
                                                         "/nccl_work/kernel"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

}  // namespace jaxprof::study
