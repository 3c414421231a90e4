#include "merge/assembly/process_part.h"

#include <bit>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "agent/contract/session_page.h"
#include "merge/assembly/gpu_findings.h"
#include "merge/assembly/gpu_reader.h"
#include "merge/assembly/nccl_rows.h"
#include "merge/clock/gpu_clock.h"
#include "merge/match/nccl_calls.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/match/plugin_events.h"
#include "merge/match/range_work.h"
#include "merge/runfile/table_rows.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::assembly {
namespace {

using match::NvtxRange;
using runfile::Severity;

// ---- NVTX ---------------------------------------------------------------------------------------------------------

runfile::NvtxKind kind_of(match::RangeKind kind) {
  switch (kind) {
    case match::RangeKind::kPushPop:
      return runfile::NvtxKind::kPushPop;
    case match::RangeKind::kStartEnd:
      return runfile::NvtxKind::kStartEnd;
    case match::RangeKind::kMark:
      return runfile::NvtxKind::kMark;
  }
  return runfile::NvtxKind::kMissing;
}

// NVTX_PAYLOAD_TYPE_* of nvToolsExt.h.
void set_payload(const NvtxRange& range, std::size_t row, runfile::NvtxTable* table) {
  switch (range.payload_type) {
    case 1:  // uint64
    case 2:  // int64
    case 4:  // uint32
    case 5:  // int32
      table->payload[row] = static_cast<std::int64_t>(range.payload);
      break;
    case 3:
      table->payload_f64[row] = std::bit_cast<double>(range.payload);
      break;
    case 6:
      table->payload_f64[row] = std::bit_cast<float>(static_cast<std::uint32_t>(range.payload));
      break;
    default:
      break;
  }
}

runfile::NvtxTable nvtx_rows(const SourceProcess& process, const match::NvtxRanges& nvtx,
                             runfile::StringTable* strings) {
  const rundir::SpoolTrace& trace = process.trace;
  // A range that starts with another comes after it if it is the inner one.
  std::vector<std::uint64_t> starts;
  starts.reserve(nvtx.ranges.size());
  for (const NvtxRange& range : nvtx.ranges) starts.push_back(range.start);
  const std::vector<std::size_t> order = scratch::sorted_places(std::span<const std::uint64_t>(starts));
  std::vector<std::uint64_t> row_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) row_of[order[i]] = i;

  runfile::NvtxTable table;
  runfile::resize_rows(table, order.size());
  std::unordered_map<spool::StringId, runfile::StringId> names;  // most ranges share few
  std::unordered_map<std::uint32_t, runfile::StringId> domains;
  for (std::size_t row = 0; row < order.size(); ++row) {
    const NvtxRange& range = nvtx.ranges[order[row]];
    table.start_ns[row] = process.clock->axis_ns(range.start);
    if (range.has_end) table.dur_ns[row] = process.clock->axis_ns(range.end) - table.start_ns[row];
    const auto [name, is_new_name] = names.try_emplace(range.message);
    if (is_new_name) name->second = strings->intern(trace.text(range.message));
    table.name[row] = name->second;
    const auto [domain, is_new_domain] = domains.try_emplace(range.domain);
    if (is_new_domain) domain->second = strings->intern(trace.domain_name(range.domain));
    table.domain[row] = domain->second;
    table.tid[row] = trace.tid(range.thread);
    table.depth[row] = range.depth;
    if (range.parent != match::kNoRange) table.parent[row] = row_of[range.parent];
    set_payload(range, row, &table);
    if (range.category != 0) {
      const std::string_view category = trace.category_name(range.domain, range.category);
      table.category[row] = strings->intern(category.empty() ? std::to_string(range.category) : category);
    }
    table.kind[row] = kind_of(range.kind);
    table.flags[row] = 0;
  }
  return table;
}

void diagnose_ranges(const SourceProcess& process, const Place& place, const match::NvtxRanges& nvtx,
                     Diagnostics* diagnostics) {
  const std::string told_by = who(process.rank, process.trace.identity().text(spool::IdentityKey::kHost)) + ": ";
  if (nvtx.never_ended > 0) {
    diagnostics->add(
        Severity::kInfo, "nvtx.never-ended", place, nvtx.never_ended,
        told_by + counted(nvtx.never_ended, "NVTX range was|NVTX ranges were") + " open when its recording ended");
  }
  if (nvtx.ends_without_start > 0) {
    diagnostics->add(Severity::kWarning, "nvtx.end-without-start", place, nvtx.ends_without_start,
                     told_by + counted(nvtx.ends_without_start, "NVTX range ends|NVTX ranges end") +
                         (nvtx.ends_without_start == 1 ? " without a start: it was dropped"
                                                       : " without a start: they were dropped"));
  }
}

// ---- GPUs ---------------------------------------------------------------------------------------------------------

bool lost_gpu_work(const rundir::SpoolTrace& trace) {
  const auto is_lost = [&trace](Drop drop) {
    const auto found = trace.drops().find(static_cast<std::uint32_t>(drop));
    return found != trace.drops().end() && found->second > 0;
  };
  return is_lost(Drop::kGpuBuffersFull) || is_lost(Drop::kGpuDropped) || is_lost(Drop::kGpuUnflushed);
}

// From the spool's numbers of launch configurations to rows of head.configs.
void number_configs(const rundir::GpuState& gpu, ProcessPart* part) {
  std::unordered_map<std::uint32_t, std::uint32_t> rows;
  for (std::uint32_t& config : part->rows.kernels.launch_config) {
    const auto [row, is_new] = rows.try_emplace(config, runfile::kNoIndex);
    if (is_new) {
      const auto known = gpu.configs.find(config);
      if (known != gpu.configs.end()) row->second = part->head.configs.row_of(known->second);
    }
    config = row->second;
  }
}

// The process's GPU work, and its NCCL calls with the work that carried them out.
void read_work(const RunSources& sources, std::size_t index, const SourceProcess& process, const match::NcclCalls& nccl,
               const match::PluginEvents& plugin, ProcessPart* part) {
  auto clock = clock::GpuClockModel::fit(process.trace.gpu().clocks, *process.clock);
  const bool is_clock_read = clock.is_valid();
  if (!is_clock_read) clock = clock::GpuClockModel::fit(process.trace.anchors(), *process.clock);
  match::GpuWork work = read_gpu_work(process.trace, clock, part->head.segments, &part->head.strings);
  diagnose_gpu(sources, index, work, clock, is_clock_read, &part->head.findings);
  if (is_clock_read) part->head.gpu_clock_residual_ns = clock.residual_ns();
  part->head.n_events += work.record_count;
  const match::NcclJoin join =
      match::join_kernels(process.trace, nccl, plugin, work, part->head.strings,
                          [&process](std::uint64_t stamp) { return process.clock->axis_ns(stamp); });
  diagnose_graph_kernels(process, index, work, join, part->head.strings, &part->head.findings);
  match::project_ranges(work, &part->rows.nvtx);
  ProcessCalls calls = nccl_rows(process, nccl, join, work, &part->head.strings);
  part->calls = std::move(calls.calls);
  part->rows.nccl_work = std::move(calls.work);
  part->rows.kernels = std::move(work.kernels);
  part->rows.memops = std::move(work.memops);
  part->rows.api = std::move(work.api);
  part->rows.overhead = std::move(work.overhead);
  part->rows.graphs = std::move(work.graphs);
  part->rows.syncs = std::move(work.syncs);
  part->rows.cuda_events = std::move(work.cuda_events);
  number_configs(process.trace.gpu(), part);
}

RowCounts counts_of(const ProcessPart& part) {
  const runfile::EventTables& rows = part.rows;
  RowCounts counts;
  counts.nvtx = runfile::n_rows(rows.nvtx);
  counts.nccl = runfile::n_rows(part.calls.rows);
  counts.kernels = runfile::n_rows(rows.kernels);
  counts.memops = runfile::n_rows(rows.memops);
  counts.api = runfile::n_rows(rows.api);
  counts.overhead = runfile::n_rows(rows.overhead);
  counts.graphs = runfile::n_rows(rows.graphs);
  counts.syncs = runfile::n_rows(rows.syncs);
  counts.cuda_events = runfile::n_rows(rows.cuda_events);
  counts.nccl_work = runfile::n_rows(rows.nccl_work);
  counts.steps = runfile::n_rows(rows.steps);
  return counts;
}

}  // namespace

ProcessPart read_process(const RunSources& sources, std::size_t index) {
  const SourceProcess& summary = sources.processes[index];
  const auto number = static_cast<std::uint32_t>(index);
  ProcessPart part;
  PartHead& head = part.head;
  const Place place{summary.rank, number, summary.node};
  auto trace = rundir::SpoolTrace::load(summary.trace.path());
  if (!trace) {
    head.findings.add(Severity::kError, "spool.gone", place, 1,
                      who(summary.rank, summary.trace.identity().text(spool::IdentityKey::kHost)) +
                          ": its spool could be read a moment ago: " + trace.error().message);
    return part;
  }
  const SourceProcess process{std::move(*trace), summary.node, summary.task, summary.rank, summary.clock};
  head.has_lost_gpu_work = lost_gpu_work(process.trace);
  match::NvtxRanges nvtx;
  if (process.clock != nullptr) {  // without one nothing of the process can be placed
    match::PluginEvents plugin;
    match::NvtxRangeBuilder ranges;
    process.trace.for_each_event([&](std::uint32_t thread, const spool::Event& event) {
      ++head.n_events;
      ranges.add(thread, event);
      plugin.add(thread, event);
    });
    nvtx = std::move(ranges).finish();
    diagnose_ranges(process, place, nvtx, &head.findings);
    match::NcclCalls nccl = match::assemble_calls(process.trace, nvtx, plugin);
    head.segments = segments_of(process.trace, *process.clock);
    part.rows.nvtx = nvtx_rows(process, nvtx, &head.strings);
    read_work(sources, index, process, nccl, plugin, &part);
    head.comms = std::move(nccl.comms);
  }
  head.devices = devices_of(process.trace, head.comms);
  StepPart steps = read_steps(process, number, nvtx, head.segments, &head.findings);
  find_first_steps(steps.rows, &head.segments);
  part.rows.steps = std::move(steps.rows);
  head.steps = std::move(steps.set);
  head.counts = counts_of(part);
  return part;
}

}  // namespace jaxprof::assembly
