#include "merge/assembly/gpu_rows.h"

#include "merge/assembly/gpu_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

// Appends `work` to `table` and ends the process's rows there. Answers where they begin.
template <typename Table>
std::uint64_t append(Table& table, std::vector<std::uint64_t>& process_offset, const Table& work) {
  const std::uint64_t base = runfile::n_rows(table);
  runfile::append_rows(table, work);
  process_offset.push_back(runfile::n_rows(table));
  return base;
}

std::int64_t step_number(std::uint64_t step) {
  return step == 0 ? runfile::kNoPayload : static_cast<std::int64_t>(step - 1);
}

}  // namespace

GpuBase GpuRows::add(std::uint32_t process, match::GpuWork work, const rundir::GpuState& state) {
  const std::uint64_t api_base = runfile::n_rows(run_->api);
  const auto to_device = [&](std::vector<std::int32_t>& ordinals) {
    for (std::int32_t& ordinal : ordinals) ordinal = devices_.row(process, ordinal);
  };
  const auto to_run = [&](auto& table) {
    to_device(table.device);
    for (std::uint64_t& api : table.api) {
      if (api != runfile::kNoRow) api += api_base;
    }
  };
  to_run(work.kernels);
  to_run(work.memops);
  to_device(work.memops.peer);
  to_device(work.graphs.device);
  for (std::uint32_t& config : work.kernels.launch_config) {
    const auto known = state.configs.find(config);
    config = known == state.configs.end() ? runfile::kNoIndex : config_index(known->second);
  }
  append(run_->api, run_->api_process_offset, work.api);
  append(run_->overhead, run_->overhead_process_offset, work.overhead);
  append(run_->graphs, run_->graph_process_offset, work.graphs);
  append(run_->syncs, run_->sync_process_offset, work.syncs);
  append(run_->cuda_events, run_->cuda_event_process_offset, work.cuda_events);
  return {append(run_->kernels, run_->kernel_process_offset, work.kernels),
          append(run_->memops, run_->memop_process_offset, work.memops)};
}

void GpuRows::add_segments(std::uint32_t process, const std::vector<Segment>& segments) {
  runfile::SegmentTable& table = run_->segments;
  for (const Segment& segment : segments) {
    const std::size_t row = runfile::add_row(table);
    table.process[row] = process;
    table.segment[row] = segment.number;
    table.open_ns[row] = segment.open_ns;
    table.close_ns[row] = segment.close_ns;
    if (segment.open_cause != 0) table.open_cause[row] = window_cause_of(segment.open_cause);
    if (segment.close_cause != 0) table.close_cause[row] = window_cause_of(segment.close_cause);
    table.open_step[row] = step_number(segment.open_step);
    table.close_step[row] = step_number(segment.close_step);
  }
}

std::uint32_t GpuRows::config_index(const spool::LaunchConfigState& state) {
  const Config config = {state.grid[0],
                         state.grid[1],
                         state.grid[2],
                         state.block[0],
                         state.block[1],
                         state.block[2],
                         state.cluster[0],
                         state.cluster[1],
                         state.cluster[2],
                         state.registers,
                         state.static_shared_bytes,
                         state.dynamic_shared_bytes,
                         state.local_bytes};
  const auto [known, is_new] = configs_.try_emplace(config, static_cast<std::uint32_t>(configs_.size()));
  if (is_new) {
    runfile::LaunchConfigTable& table = run_->launch_configs;
    const std::size_t row = runfile::add_row(table);
    std::size_t i = 0;
    runfile::for_each_column(table, [&](const auto&, auto& column) { column[row] = config[i++]; });
  }
  return known->second;
}

}  // namespace jaxprof::assembly
