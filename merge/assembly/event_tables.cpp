#include "merge/assembly/event_tables.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "agent/contract/session_page.h"
#include "merge/assembly/comm_tables.h"
#include "merge/assembly/device_rows.h"
#include "merge/assembly/gpu_findings.h"
#include "merge/assembly/gpu_reader.h"
#include "merge/assembly/gpu_rows.h"
#include "merge/assembly/nccl_rows.h"
#include "merge/assembly/step_table.h"
#include "merge/assembly/window_findings.h"
#include "merge/assembly/windows.h"
#include "merge/clock/gpu_clock.h"
#include "merge/match/instances.h"
#include "merge/match/nccl_calls.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/match/plugin_events.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using match::NvtxRange;
using runfile::RunTables;
using runfile::Severity;

// One process's events, put together but not yet in tables.
struct ProcessEvents {
  match::NvtxRanges nvtx;
  match::PluginEvents plugin;
  match::NcclCalls nccl;
  std::uint64_t event_count = 0;
};

ProcessEvents read_events(const rundir::SpoolTrace& trace) {
  ProcessEvents events;
  match::NvtxRangeBuilder ranges(trace);
  trace.for_each_event([&](std::uint32_t thread, const spool::Event& event) {
    ++events.event_count;
    ranges.add(thread, event);
    events.plugin.add(thread, event);
  });
  events.nvtx = std::move(ranges).finish();
  events.nccl = match::assemble_calls(trace, events.nvtx, events.plugin);
  return events;
}

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

void add_nvtx_rows(const SourceProcess& process, const match::NvtxRanges& nvtx, RunTables* run) {
  const rundir::SpoolTrace& trace = process.trace;
  runfile::NvtxTable& table = run->nvtx;
  const std::size_t base = runfile::n_rows(table);
  // A range that starts with another comes after it if it is the inner one.
  std::vector<std::size_t> order(nvtx.ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&nvtx](std::size_t a, std::size_t b) { return nvtx.ranges[a].start < nvtx.ranges[b].start; });
  std::vector<std::uint64_t> row_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) row_of[order[i]] = base + i;

  runfile::resize_rows(table, base + order.size());
  std::map<spool::StringId, runfile::StringId> names;  // most ranges share few
  for (std::size_t i = 0; i < order.size(); ++i) {
    const NvtxRange& range = nvtx.ranges[order[i]];
    const std::size_t row = base + i;
    table.start_ns[row] = process.clock->axis_ns(range.start);
    if (range.has_end) table.dur_ns[row] = process.clock->axis_ns(range.end) - table.start_ns[row];
    const auto [name, is_new] = names.try_emplace(range.message);
    if (is_new) name->second = run->strings.intern(trace.text(range.message));
    table.name[row] = name->second;
    table.domain[row] = run->strings.intern(trace.domain_name(range.domain));
    table.tid[row] = trace.tid(range.thread);
    table.depth[row] = range.depth;
    if (range.parent != match::kNoRange) table.parent[row] = row_of[range.parent];
    set_payload(range, row, &table);
    if (range.category != 0) {
      const std::string_view category = trace.category_name(range.domain, range.category);
      table.category[row] = run->strings.intern(category.empty() ? std::to_string(range.category) : category);
    }
    table.kind[row] = kind_of(range.kind);
    table.flags[row] = 0;
  }
}

// ---- NCCL ---------------------------------------------------------------------------------------------------------

void diagnose_matching(const match::UnmatchedCalls& unmatched, const RunTables& run, Diagnostics* diagnostics) {
  const auto add = [diagnostics](const char* code, std::uint64_t count, const char* noun, const char* text,
                                 Severity severity = Severity::kWarning) {
    if (count > 0) diagnostics->add(severity, code, {}, count, counted(count, noun) + text);
  };
  add("call.without-communicator", unmatched.without_communicator, "NCCL call names|NCCL calls name",
      " no communicator (NCCL before 2.25 without its profiler plugin, or a lost registration) and cannot be matched");
  add("call.without-sequence", unmatched.without_sequence,
      "NCCL call has no number and is|NCCL calls have no number and are",
      " not matched: the profiler plugin numbered others of the kind, or the process holds several members of the "
      "communicator and nothing tells which one called");
  add("call.repeated", unmatched.repeated,
      "NCCL call repeats a number of its own member|NCCL calls repeat a number of their own member",
      " (replayed CUDA graphs) and cannot be matched");
  add("call.replay-unnumbered", unmatched.unnumbered_replays,
      "replay of a captured NCCL call is|replays of captured NCCL calls are",
      " not matched: windows that open by time open in different replays on different ranks");
  add("call.replay-after-loss", unmatched.replays_after_losses,
      "replay of a captured NCCL call is|replays of captured NCCL calls are",
      " not matched: their process lost GPU records, so that which replay each was is not known");
  const auto& calls = run.nccl.flags;
  const auto is_on_several = [](std::uint16_t call) { return (call & runfile::kCallOnSeveralGpus) != 0; };
  add("call.several-gpus", static_cast<std::uint64_t>(std::count_if(calls.begin(), calls.end(), is_on_several)),
      "NCCL call has|NCCL calls have",
      " no GPU times: their groups were launched for several GPUs at once, and nothing tells which kernel is whose "
      "(the profiler plugin of NCCL 2.28 on does)");
  const auto& flags = run.collectives.flags;
  const auto count_flag = [&flags](std::uint16_t flag) {
    return static_cast<std::uint64_t>(
        std::count_if(flags.begin(), flags.end(), [flag](std::uint16_t f) { return (f & flag) != 0; }));
  };
  add("collective.partial", count_flag(runfile::kInstancePartial), "collective lacks|collectives lack", " members");
  add("collective.mismatch", count_flag(runfile::kInstanceMismatch), "collective has|collectives have",
      " members that disagree on type, size or reduction");
  std::uint64_t overfull = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (run.collectives.n_seen[i] > run.collectives.n_ranks[i]) ++overfull;
  }
  add("collective.overfull", overfull, "collective has|collectives have",
      " more members than the communicator has ranks: a rank is counted twice or its size is wrong");
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool is_unresolved = (flags[i] & runfile::kInstanceUnresolved) != 0;
    if (is_unresolved && std::isnan(run.collectives.clock_bound_ns[i])) ++unknown;
  }
  add("collective.unresolved", unknown, "collective has|collectives have",
      " members on several nodes, whose clocks have no known bound: which one came last is not known", Severity::kInfo);
  add("collective.unresolved", count_flag(runfile::kInstanceUnresolved) - unknown, "collective has|collectives have",
      " members on several nodes that came within what the nodes' clocks can tell apart: which one was last is not "
      "known",
      Severity::kInfo);
}

// ---- GPUs ---------------------------------------------------------------------------------------------------------

// The process's GPU work and windows as rows, and its NCCL calls with the work that carried them out.
void add_work(const RunSources& sources, std::size_t index, const ProcessEvents& events,
              const std::vector<Segment>& segments, RunTables* run, GpuRows* gpu, NcclRows* nccl,
              Diagnostics* diagnostics) {
  const SourceProcess& process = sources.processes[index];
  const auto number = static_cast<std::uint32_t>(index);
  auto clock = clock::GpuClockModel::fit(process.trace.gpu().clocks, *process.clock);
  const bool is_clock_read = clock.is_valid();
  if (!is_clock_read) clock = clock::GpuClockModel::fit(process.trace.anchors(), *process.clock);
  match::GpuWork work = read_gpu_work(process.trace, clock, segments, &run->strings);
  diagnose_gpu(sources, index, work, clock, is_clock_read, diagnostics);
  if (is_clock_read) run->processes.gpu_clock_residual_ns[index] = clock.residual_ns();
  run->processes.n_events[index] += work.record_count;
  const match::NcclJoin join =
      match::join_kernels(process.trace, events.nccl, events.plugin, work, run->strings,
                          [&process](std::uint64_t stamp) { return process.clock->axis_ns(stamp); });
  diagnose_graph_kernels(process, index, work, join, run->strings, diagnostics);
  const GpuBase base = gpu->add(number, std::move(work), process.trace.gpu());
  gpu->add_segments(number, segments);
  nccl->add(number, process, events.nccl, join, base);
}

}  // namespace

namespace {

// Of each process, whether GPU records of it were lost.
std::vector<bool> find_gpu_losses(const RunSources& sources) {
  std::vector<bool> has_lost;
  for (const SourceProcess& process : sources.processes) {
    const auto& drops = process.trace.drops();
    const auto is_lost = [&drops](Drop drop) {
      const auto found = drops.find(static_cast<std::uint32_t>(drop));
      return found != drops.end() && found->second > 0;
    };
    has_lost.push_back(is_lost(Drop::kGpuBuffersFull) || is_lost(Drop::kGpuDropped) || is_lost(Drop::kGpuUnflushed));
  }
  return has_lost;
}

}  // namespace

void fill_event_tables(const RunSources& sources, RunTables* run, Diagnostics* diagnostics) {
  std::vector<ProcessEvents> events;
  for (std::size_t i = 0; i < sources.processes.size(); ++i) {
    const SourceProcess& process = sources.processes[i];
    // Without a clock nothing of the process can be placed.
    events.push_back(process.clock != nullptr ? read_events(process.trace) : ProcessEvents{});
    run->processes.n_events[i] = events.back().event_count;
    const Place place{process.rank, static_cast<std::uint32_t>(i), process.node};
    const match::NvtxRanges& nvtx = events.back().nvtx;
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
  CommTables comms;
  DeviceRows devices;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto process = static_cast<std::uint32_t>(i);
    comms.add(process, events[i].nccl.comms);
    for (const match::ProcessComm& comm : events[i].nccl.comms) devices.add(process, comm.device);
    devices.add(process, sources.processes[i].trace);
  }
  devices.fill(run);
  comms.fill(devices, run, diagnostics);
  std::vector<std::vector<Segment>> segments(sources.processes.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SourceProcess& process = sources.processes[i];
    if (process.clock != nullptr) segments[i] = segments_of(process.trace, *process.clock);
  }
  NcclRows nccl(comms, devices, run);
  GpuRows gpu(devices, run);
  StepRows steps(run, diagnostics);
  for (std::size_t i = 0; i < sources.processes.size(); ++i) {
    if (sources.processes[i].clock != nullptr) {
      add_nvtx_rows(sources.processes[i], events[i].nvtx, run);
      add_work(sources, i, events[i], segments[i], run, &gpu, &nccl, diagnostics);
    } else {
      gpu.add(static_cast<std::uint32_t>(i), {}, sources.processes[i].trace.gpu());
    }
    steps.add(sources.processes[i], events[i].nvtx, segments[i]);
    events[i] = {};
    run->nvtx_process_offset.push_back(runfile::n_rows(run->nvtx));
    run->nccl_process_offset.push_back(runfile::n_rows(run->nccl));
  }
  steps.finish();
  diagnose_windows(sources, segments, *run, diagnostics);
  run->attributes.window = windows_of(sources);
  nccl.fill_member_devices();
  diagnose_matching(match::match_instances(nccl.calls_in_plan(), find_gpu_losses(sources), run), *run, diagnostics);
}

void shift_to_epoch(RunTables* run) {
  std::int64_t epoch = std::numeric_limits<std::int64_t>::max();
  const auto columns = {&run->processes.start_ns,   &run->nvtx.start_ns,    &run->nccl.start_ns,
                        &run->kernels.start_ns,     &run->memops.start_ns,  &run->api.start_ns,
                        &run->overhead.start_ns,    &run->graphs.start_ns,  &run->syncs.start_ns,
                        &run->cuda_events.start_ns, &run->segments.open_ns, &run->observers.start_ns};
  for (const auto* column : columns) {
    for (const std::int64_t time : *column) {
      if (time != runfile::kNoTime) epoch = std::min(epoch, time);
    }
  }
  for (const runfile::CounterTable& table : run->counters) {
    for (const std::int64_t time : table.time_ns) epoch = std::min(epoch, time);
  }
  if (epoch == std::numeric_limits<std::int64_t>::max()) epoch = 0;
  run->attributes.epoch_unix_ns = epoch;
  for (runfile::CounterTable& table : run->counters) {
    for (std::int64_t& time : table.time_ns) time -= epoch;
  }
  // A node may have been looked at before its first event.
  for (std::int64_t& time : run->clock_model.time_ns) time -= epoch;
  for (auto* column : {&run->processes.start_ns,
                       &run->processes.end_ns,
                       &run->observers.start_ns,
                       &run->observers.end_ns,
                       &run->nvtx.start_ns,
                       &run->steps.start_ns,
                       &run->nccl.start_ns,
                       &run->nccl.enqueue_ns,
                       &run->nccl.end_api_ns,
                       &run->nccl.gpu_start_ns,
                       &run->kernels.start_ns,
                       &run->memops.start_ns,
                       &run->api.start_ns,
                       &run->overhead.start_ns,
                       &run->graphs.start_ns,
                       &run->syncs.start_ns,
                       &run->cuda_events.start_ns,
                       &run->segments.open_ns,
                       &run->segments.close_ns,
                       &run->clock_steps.time_ns,
                       &run->collectives.first_enqueue_ns,
                       &run->collectives.last_enqueue_ns,
                       &run->collectives.first_start_ns,
                       &run->collectives.last_start_ns,
                       &run->collectives.first_end_ns,
                       &run->collectives.last_end_ns}) {
    for (std::int64_t& time : *column) {
      if (time != runfile::kNoTime) time = std::max<std::int64_t>(time - epoch, 0);
    }
  }
}

}  // namespace jaxprof::assembly
