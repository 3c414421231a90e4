#include "merge/assembly/gpu_reader.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "agent/spool/varint.h"
#include "merge/assembly/gpu_words.h"
#include "merge/match/api_calls.h"
#include "merge/runfile/table_rows.h"
#include "merge/runfile/word_list.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::assembly {
namespace {

namespace field = spool::gpu_field;
using spool::Event;

std::uint32_t narrow(std::uint64_t word) {
  return word > UINT32_MAX ? runfile::kNoIndex : static_cast<std::uint32_t>(word);
}

std::uint64_t or_missing(std::uint64_t word) {
  return word == 0 ? runfile::kNoRow : word;
}

// A table to which rows are added one by one; in memory they are made many at once, which is much faster than to let
// each column grow by itself.
template <typename Table>
class GrowingTable {
 public:
  // The next row, of which every value is missing.
  std::size_t add() {
    if (n_rows_ == n_made_) {
      n_made_ = std::max<std::size_t>(2 * n_made_, 64);
      runfile::resize_rows(rows, n_made_);
    }
    return n_rows_++;
  }
  Table finish() && {
    runfile::resize_rows(rows, n_rows_);
    return std::move(rows);
  }

  Table rows;

 private:
  std::size_t n_rows_ = 0;
  std::size_t n_made_ = 0;
};

class Reader {
 public:
  Reader(const rundir::SpoolTrace& trace, const clock::GpuClockModel& clock, runfile::StringTable* strings)
      : trace_(trace), clock_(clock), strings_(strings) {}

  void take(const Event& event) {
    ++work_.record_count;
    switch (event.kind) {
      case spool::EventKind::kGpuKernel:
        return add_kernel(event);
      case spool::EventKind::kGpuMemcpy:
        return add_memcpy(event);
      case spool::EventKind::kGpuMemset:
        return add_memset(event);
      case spool::EventKind::kGpuApi:
        return add_api(event);
      case spool::EventKind::kGpuOverhead:
        return add_overhead(event);
      case spool::EventKind::kGpuGraph:
        return add_graph(event);
      case spool::EventKind::kGpuSynchronization:
        return add_sync(event);
      case spool::EventKind::kGpuEvent:
        return add_cuda_event(event);
      case spool::EventKind::kGpuExternal:
        work_.externals.push_back({event.fields[field::kExternalHandle], event.fields[field::kExternalCorrelation]});
        return;
      default:  // of a newer agent
        return;
    }
  }

  match::GpuWork finish() && {
    work_.kernels = std::move(kernels_).finish();
    work_.memops = std::move(memops_).finish();
    work_.api = std::move(api_).finish();
    work_.overhead = std::move(overhead_).finish();
    work_.graphs = std::move(graphs_).finish();
    work_.syncs = std::move(syncs_).finish();
    work_.cuda_events = std::move(cuda_events_).finish();
    return std::move(work_);
  }

 private:
  // Adds a row with its times and what is to be said of them.
  template <typename Table>
  std::size_t add_timed(GrowingTable<Table>& to, const Event& event) {
    const std::size_t row = add_row_at(to, event.stamp);
    Table& table = to.rows;
    const std::int64_t length_ns = spool::unfold_sign(event.fields[field::kDuration]);
    if (event.stamp == 0) return row;
    const bool has_end = event.stamp + static_cast<std::uint64_t>(length_ns) != 0;
    if (!has_end) {
      table.flags[row] |= runfile::kWorkNoTime;
    } else if (length_ns < 0) {
      table.flags[row] |= runfile::kWorkEndFirst;
    } else {
      table.dur_ns[row] = std::min(length_ns, clock::AxisClock::kLastNs);
    }
    return row;
  }

  template <typename Table>
  std::size_t add_row_at(GrowingTable<Table>& to, std::uint64_t stamp) {
    const std::size_t row = to.add();
    Table& table = to.rows;
    table.flags[row] = 0;
    if (stamp == 0 || stamp > static_cast<std::uint64_t>(clock::AxisClock::kLastNs)) {
      table.flags[row] |= runfile::kWorkNoTime;
      return row;
    }
    const auto instant = clock_.at(static_cast<std::int64_t>(stamp));
    table.start_ns[row] = instant.axis_ns;
    if (instant.is_ambiguous) table.flags[row] |= runfile::kWorkAmbiguousTime;
    return row;
  }

  template <typename Table>
  void place(Table& table, std::size_t row, const Event& event) {
    table.correlation[row] = or_missing(event.fields[field::kCorrelation]);
    if (const std::uint64_t lane = event.fields[field::kLane]; lane != last_lane_) {
      last_lane_ = lane;
      lane_ = trace_.gpu().lane(lane);
    }
    if (lane_ == nullptr) return;
    table.device[row] = static_cast<std::int32_t>(lane_->device);
    table.context[row] = lane_->context;
    table.stream[row] = lane_->stream;
  }

  void add_kernel(const Event& event) {
    const std::size_t row = add_timed(kernels_, event);
    runfile::KernelTable& table = kernels_.rows;
    place(table, row, event);
    table.name[row] = name_of(event.id);
    if (const std::uint64_t config = event.fields[field::kKernelConfig]; config != 0) {
      table.launch_config[row] = narrow(config);
    }
    table.graph[row] = or_missing(event.fields[field::kKernelGraph]);
    table.graph_node[row] = or_missing(event.fields[field::kKernelGraphNode]);
    table.channel[row] = narrow(event.fields[field::kKernelChannel]);
  }

  void add_memcpy(const Event& event) {
    const std::size_t row = add_timed(memops_, event);
    runfile::MemopTable& table = memops_.rows;
    place(table, row, event);
    table.kind[row] = memop_kind_of(event.id & 0xff);
    table.src[row] = memory_kind_of(event.id >> 8 & 0xff);
    table.dst[row] = memory_kind_of(event.id >> 16 & 0xff);
    table.bytes[row] = event.fields[field::kMemcpyBytes];
    table.graph_node[row] = or_missing(event.fields[field::kMemcpyGraphNode]);
    table.graph[row] = or_missing(event.fields[field::kMemcpyGraph]);
    if (const std::uint64_t peer = event.fields[field::kMemcpyPeer]; peer > 0 && peer <= INT32_MAX) {
      table.peer[row] = static_cast<std::int32_t>(peer - 1);
    }
  }

  void add_memset(const Event& event) {
    const std::size_t row = add_timed(memops_, event);
    runfile::MemopTable& table = memops_.rows;
    place(table, row, event);
    table.kind[row] = runfile::MemopKind::kMemset;
    table.dst[row] = memory_kind_of(event.id & 0xffff);
    table.bytes[row] = event.fields[field::kMemsetBytes];
    table.value[row] = narrow(event.fields[field::kMemsetValue]);
    table.graph_node[row] = or_missing(event.fields[field::kMemsetGraphNode]);
    table.graph[row] = or_missing(event.fields[field::kMemsetGraph]);
  }

  void add_api(const Event& event) {
    const std::size_t row = add_timed(api_, event);
    runfile::ApiTable& table = api_.rows;
    table.name[row] = api_name_of(event.id);
    const bool is_runtime = (event.id & field::kRuntimeApi) != 0;
    table.layer[row] = is_runtime ? runfile::ApiLayer::kRuntime : runfile::ApiLayer::kDriver;
    table.tid[row] = event.fields[field::kApiTid];
    table.correlation[row] = or_missing(event.fields[field::kCorrelation]);
    table.result[row] = static_cast<std::int32_t>(static_cast<std::uint32_t>(event.fields[field::kApiResult]));
  }

  void add_overhead(const Event& event) {
    constexpr std::uint64_t kThread = 2;  // CUPTI_ACTIVITY_OBJECT_THREAD
    const std::size_t row = add_timed(overhead_, event);
    runfile::OverheadTable& table = overhead_.rows;
    table.kind[row] = overhead_kind_of(event.id);
    if (event.fields[field::kOverheadObjectKind] == kThread) table.tid[row] = event.fields[field::kOverheadObject];
    table.correlation[row] = or_missing(event.fields[field::kCorrelation]);
  }

  void add_graph(const Event& event) {
    const std::size_t row = add_timed(graphs_, event);
    place(graphs_.rows, row, event);
    graphs_.rows.graph[row] = event.id;
  }

  void add_sync(const Event& event) {
    const std::size_t row = add_timed(syncs_, event);
    runfile::SyncTable& table = syncs_.rows;
    table.kind[row] = sync_kind_of(event.id);
    table.context[row] = narrow(event.fields[field::kSyncContext]);
    table.stream[row] = narrow(event.fields[field::kSyncStream]);
    table.event[row] = or_missing(event.fields[field::kSyncEvent]);
    table.correlation[row] = or_missing(event.fields[field::kCorrelation]);
  }

  void add_cuda_event(const Event& event) {
    const std::size_t row = add_row_at(cuda_events_, event.stamp);
    runfile::CudaEventTable& table = cuda_events_.rows;
    table.event[row] = event.id;
    table.context[row] = narrow(event.fields[field::kEventContext]);
    table.stream[row] = narrow(event.fields[field::kEventStream]);
  }

  runfile::StringId name_of(spool::StringId id) {
    const auto [name, is_new] = names_.try_emplace(id);
    if (is_new) name->second = strings_->intern(trace_.text(id));
    return name->second;
  }

  runfile::StringId api_name_of(std::uint32_t api) {
    const auto [name, is_new] = api_names_.try_emplace(api);
    if (!is_new) return name->second;
    const auto known = trace_.gpu().api_names.find(api);
    const std::string number = "callback " + std::to_string(api & ~field::kRuntimeApi);
    name->second = known != trace_.gpu().api_names.end() ? name_of(known->second) : strings_->intern(number);
    return name->second;
  }

  const rundir::SpoolTrace& trace_;
  const clock::GpuClockModel& clock_;
  runfile::StringTable* strings_;
  match::GpuWork work_;  // its tables at the end
  GrowingTable<runfile::KernelTable> kernels_;
  GrowingTable<runfile::MemopTable> memops_;
  GrowingTable<runfile::ApiTable> api_;
  GrowingTable<runfile::OverheadTable> overhead_;
  GrowingTable<runfile::GraphTable> graphs_;
  GrowingTable<runfile::SyncTable> syncs_;
  GrowingTable<runfile::CudaEventTable> cuda_events_;
  std::uint64_t last_lane_ = UINT64_MAX;
  const spool::GpuLaneState* lane_ = nullptr;  // of last_lane_; null: not registered
  std::unordered_map<spool::StringId, runfile::StringId> names_;
  std::unordered_map<std::uint32_t, runfile::StringId> api_names_;
};

template <typename Table>
void sort_by_start(Table& table) {
  const auto& start_ns = table.start_ns;
  if (std::is_sorted(start_ns.begin(), start_ns.end())) return;
  const std::vector<std::size_t> order = scratch::sorted_places(std::span<const std::int64_t>(start_ns));
  runfile::reorder_rows(table, std::span<const std::size_t>(order));
}

// A call takes what began nearest after it. What has its correlation and began long after that was launched by a later
// call of that number, which was not recorded.
template <typename Table>
void find_launches(const runfile::ApiTable& api, const match::ApiCalls& calls, Table& table) {
  std::vector<std::int64_t> last_start_ns(api.correlation.size(), runfile::kNoTime);  // of what a call launched
  for (std::size_t row = 0; row < table.correlation.size(); ++row) {
    if (table.correlation[row] == runfile::kNoRow) continue;
    const std::int64_t start_ns = table.start_ns[row];
    const std::uint64_t call = calls.launch_of(table.correlation[row], start_ns);
    if (call == runfile::kNoRow) continue;
    std::int64_t& last_ns = last_start_ns[call];
    if (last_ns >= 0 && start_ns - last_ns >= match::kShortestWrapNs) continue;
    last_ns = std::max(last_ns, start_ns);
    table.api[row] = call;
    const bool has_times = start_ns >= 0 && api.start_ns[call] >= 0;
    if (has_times && start_ns < api.start_ns[call]) table.flags[row] |= runfile::kWorkBeforeLaunch;
  }
}

// Work that was launched while the window was open may run after it.
template <typename Table>
void mark_outside(const std::vector<Segment>& segments, const runfile::ApiTable& api, Table& table) {
  for (std::size_t row = 0; row < table.start_ns.size(); ++row) {
    std::int64_t start_ns = table.start_ns[row];
    if (start_ns < 0) continue;
    const std::int64_t end_ns = start_ns + std::max<std::int64_t>(table.dur_ns[row], 0);
    if constexpr (requires { table.api; }) {
      if (table.api[row] != runfile::kNoRow && api.start_ns[table.api[row]] >= 0) {
        start_ns = std::min(start_ns, api.start_ns[table.api[row]]);
      }
    }
    if (!is_in_window(segments, start_ns, end_ns)) table.flags[row] |= runfile::kWorkOutside;
  }
}

// The agent records all along between the segments of a window that opens again, and where whole graphs are recorded
// (-t graph); what runs in a segment is then kept, whenever it was launched. A launch within it has its call.
template <typename Table>
void mark_launched_before(const std::vector<Segment>& segments, bool records_all_along, Table& table) {
  for (std::size_t row = 0; row < table.start_ns.size(); ++row) {
    const std::int64_t start_ns = table.start_ns[row];
    if (start_ns < 0 || table.api[row] != runfile::kNoRow) continue;
    const auto own = std::find_if(segments.begin(), segments.end(), [start_ns](const Segment& segment) {
      return segment.close_ns < 0 || start_ns <= segment.close_ns;
    });
    if (own == segments.end()) continue;
    if (records_all_along || own->number > 0) table.flags[row] |= runfile::kWorkBeforeWindow;
  }
}

}  // namespace

match::GpuWork read_gpu_work(const rundir::SpoolTrace& trace, const clock::GpuClockModel& clock,
                             const std::vector<Segment>& segments, runfile::StringTable* strings) {
  Reader reader(trace, clock, strings);
  const std::uint64_t damaged = trace.for_each_activity([&reader](const Event& event) { reader.take(event); });
  match::GpuWork work = std::move(reader).finish();
  work.damaged_blocks = damaged;
  sort_by_start(work.kernels);
  sort_by_start(work.memops);
  sort_by_start(work.api);
  sort_by_start(work.overhead);
  sort_by_start(work.graphs);
  sort_by_start(work.syncs);
  sort_by_start(work.cuda_events);
  const match::ApiCalls calls(work.api);
  find_launches(work.api, calls, work.kernels);
  find_launches(work.api, calls, work.memops);
  mark_outside(segments, work.api, work.api);
  mark_outside(segments, work.api, work.kernels);
  mark_outside(segments, work.api, work.memops);
  const bool records_all_along = runfile::has_word(trace.identity().text(spool::IdentityKey::kTrace), "graph");
  mark_launched_before(segments, records_all_along, work.kernels);
  mark_launched_before(segments, records_all_along, work.memops);
  return work;
}

}  // namespace jaxprof::assembly
