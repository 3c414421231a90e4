#include "merge/assembly/part_placer.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "merge/assembly/gpu_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::EventTables;

std::int64_t step_number(std::uint64_t step) {
  return step == 0 ? runfile::kNoPayload : static_cast<std::int64_t>(step - 1);
}

template <typename Table>
void place_texts(const std::vector<runfile::StringId>& texts, Table* table) {
  runfile::for_each_column(*table, [&texts]<typename T>(const auto&, std::vector<T>& column) {
    if constexpr (std::is_same_v<T, runfile::StringId>) {
      for (runfile::StringId& id : column) id = texts[static_cast<std::size_t>(id)];
    }
  });
}

void place_devices(const std::vector<std::pair<std::int32_t, std::int32_t>>& rows, std::vector<std::int32_t>* devices) {
  std::int32_t last = -1;  // most rows are of one device
  std::int32_t last_row = -1;
  for (std::int32_t& ordinal : *devices) {
    if (ordinal != last) {
      last = ordinal;
      const auto known =
          std::find_if(rows.begin(), rows.end(), [ordinal](const auto& row) { return row.first == ordinal; });
      last_row = known == rows.end() ? -1 : known->second;
    }
    ordinal = last_row;
  }
}

void add_base(std::uint64_t base, std::vector<std::uint64_t>* rows) {
  for (std::uint64_t& row : *rows) {
    if (row != runfile::kNoRow) row += base;
  }
}

// Answers how many were earlier.
std::uint64_t shift(std::int64_t epoch_ns, std::vector<std::int64_t>* times) {
  std::uint64_t early = 0;
  for (std::int64_t& time : *times) {
    if (time == runfile::kNoTime) continue;
    early += time < epoch_ns ? 1U : 0U;
    time = std::max<std::int64_t>(time - epoch_ns, 0);
  }
  return early;
}

std::uint64_t shift_times(std::int64_t epoch_ns, EventTables* rows, runfile::NcclTable* calls) {
  std::uint64_t early = 0;
  for (auto* begins :
       {&rows->nvtx.start_ns, &calls->start_ns, &rows->kernels.start_ns, &rows->memops.start_ns, &rows->api.start_ns,
        &rows->overhead.start_ns, &rows->graphs.start_ns, &rows->syncs.start_ns, &rows->cuda_events.start_ns}) {
    early += shift(epoch_ns, begins);
  }
  // Of rows that are counted by their beginnings.
  for (auto* others : {&rows->nvtx.gpu_start_ns, &calls->enqueue_ns, &calls->end_api_ns, &calls->gpu_start_ns,
                       &rows->steps.start_ns}) {
    shift(epoch_ns, others);
  }
  return early;
}

}  // namespace

std::uint64_t place_rows(const Placement& placement, ProcessPart* part) {
  EventTables& rows = part->rows;
  runfile::NcclTable& calls = part->calls.rows;
  runfile::for_each_event_table(rows, [&](auto& table) { place_texts(placement.texts, &table); });
  place_texts(placement.texts, &calls);
  for (auto* devices :
       {&rows.kernels.device, &rows.memops.device, &rows.memops.peer, &rows.graphs.device, &calls.device}) {
    place_devices(placement.devices, devices);
  }
  for (std::uint32_t& config : rows.kernels.launch_config) {
    if (config != runfile::kNoIndex) config = placement.configs[config];
  }
  const RowCounts& first = placement.first_rows;
  add_base(first.nvtx, &rows.nvtx.parent);
  add_base(first.nccl, &calls.parent);
  add_base(first.api, &rows.kernels.api);
  add_base(first.api, &rows.memops.api);
  add_base(first.nccl, &rows.nccl_work.call);
  add_base(first.kernels, &rows.nccl_work.kernel);
  add_base(first.memops, &rows.nccl_work.memop);
  return shift_times(placement.epoch_ns, &rows, &calls);
}

Placement PartPlacer::number(std::uint32_t process, std::uint32_t node, const PartHead& head) {
  Placement placement;
  placement.epoch_ns = epoch_ns_;
  for (std::size_t id = 0; id < head.strings.size(); ++id) {
    placement.texts.push_back(run_->strings.intern(head.strings.text(static_cast<runfile::StringId>(id))));
  }
  devices_.add(process, node, head.devices);
  for (const PartDevice& device : head.devices) {
    placement.devices.emplace_back(device.ordinal, devices_.row(process, device.ordinal));
  }
  for (std::size_t row = 0; row < runfile::n_rows(head.configs.table()); ++row) {
    placement.configs.push_back(configs_.row_of(head.configs.table(), row));
  }
  const auto end = [](std::uint64_t count, std::vector<std::uint64_t>* offset) {
    const std::uint64_t first = offset->back();
    offset->push_back(first + count);
    return first;
  };
  RowCounts& first = placement.first_rows;
  first.nvtx = end(head.counts.nvtx, &run_->nvtx_process_offset);
  first.nccl = end(head.counts.nccl, &run_->nccl_process_offset);
  first.kernels = end(head.counts.kernels, &run_->kernel_process_offset);
  first.memops = end(head.counts.memops, &run_->memop_process_offset);
  first.api = end(head.counts.api, &run_->api_process_offset);
  first.overhead = end(head.counts.overhead, &run_->overhead_process_offset);
  first.graphs = end(head.counts.graphs, &run_->graph_process_offset);
  first.syncs = end(head.counts.syncs, &run_->sync_process_offset);
  first.cuda_events = end(head.counts.cuda_events, &run_->cuda_event_process_offset);
  first.nccl_work = std::exchange(n_nccl_work_, n_nccl_work_ + head.counts.nccl_work);
  first.steps = end(head.counts.steps, &run_->step_process_offset);
  add_segments(process, head.segments);
  return placement;
}

void PartPlacer::add_segments(std::uint32_t process, const std::vector<Segment>& segments) {
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

}  // namespace jaxprof::assembly
