// The columns of gpu_tables.h: names in the file, units, meanings, missing values. As in schema.h, which includes this.
#pragma once

#include "merge/runfile/column_spec.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

inline constexpr const char* kWorkFlagsText =
    "1 no time, 2 end before start, 4 start before its launch, 8 neither it nor its launch in a window, 16 time may be "
    "another, 32 launched before the window in which it ran";

template <Is<KernelTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "start on the GPU, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"name", "index of /strings/value", "name of the kernel, as compiled", kNoText}, t.name);
  visit(ColumnSpec{"device", "index of /job/devices", "GPU", kNoNumber}, t.device);
  visit(ColumnSpec{"context", "1", "CUPTI's number for the CUDA context", kNoIndex}, t.context);
  visit(ColumnSpec{"stream", "1", "CUPTI's number for the CUDA stream", kNoIndex}, t.stream);
  visit(ColumnSpec{"correlation", "1", "what the launching call has as well; 32 bits, which come again", kNoRow},
        t.correlation);
  visit(
      ColumnSpec{"api", "row of /events/api", "call that launched it, of a graph's kernel the graph's launch", kNoRow},
      t.api);
  visit(ColumnSpec{"launch_config", "index of /launch_configs", "grid, block, registers, shared memory", kNoIndex},
        t.launch_config);
  visit(ColumnSpec{"graph", "1", "CUPTI's number for the CUDA graph that it ran in", kNoRow}, t.graph);
  visit(ColumnSpec{"graph_node", "1", "CUPTI's number for its node in the graph", kNoRow}, t.graph_node);
  visit(ColumnSpec{"channel", "1", "number of the hardware channel", kNoIndex}, t.channel);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<MemopTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "start on the GPU, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"kind", "word", "direction of the copy, or memset", MemopKind::kMissing}, t.kind);
  visit(ColumnSpec{"bytes", "bytes", "how much", kNoRow}, t.bytes);
  visit(ColumnSpec{"src", "word", "memory that was read; missing for a memset", MemoryKind::kMissing}, t.src);
  visit(ColumnSpec{"dst", "word", "memory that was written", MemoryKind::kMissing}, t.dst);
  visit(ColumnSpec{"value", "1", "what a memset wrote", kNoIndex}, t.value);
  visit(ColumnSpec{"device", "index of /job/devices", "GPU", kNoNumber}, t.device);
  visit(ColumnSpec{"peer", "index of /job/devices", "GPU at the other end, where that is another", kNoNumber}, t.peer);
  visit(ColumnSpec{"context", "1", "CUPTI's number for the CUDA context", kNoIndex}, t.context);
  visit(ColumnSpec{"stream", "1", "CUPTI's number for the CUDA stream", kNoIndex}, t.stream);
  visit(ColumnSpec{"correlation", "1", "what the launching call has as well; 32 bits, which come again", kNoRow},
        t.correlation);
  visit(ColumnSpec{"api", "row of /events/api", "call that launched it, of a graph's copy the graph's launch", kNoRow},
        t.api);
  visit(ColumnSpec{"graph", "1", "CUPTI's number for the CUDA graph that it ran in", kNoRow}, t.graph);
  visit(ColumnSpec{"graph_node", "1", "CUPTI's number for its node in the graph", kNoRow}, t.graph_node);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<ApiTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "begin of the call, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"name", "index of /strings/value", "function, with the version that CUPTI gives it", kNoText},
        t.name);
  visit(ColumnSpec{"layer", "word", "driver or runtime API", ApiLayer::kMissing}, t.layer);
  visit(ColumnSpec{"tid", "1", "thread id of the operating system", kNoRow}, t.tid);
  visit(ColumnSpec{"correlation", "1", "what the work has as well that it launched; 32 bits, which come again", kNoRow},
        t.correlation);
  visit(ColumnSpec{"result", "1", "what it returned, 0 for success", kNoNumber}, t.result);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<OverheadTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "begin, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"kind", "word", "what CUPTI or the driver did", OverheadKind::kMissing}, t.kind);
  visit(ColumnSpec{"tid", "1", "thread id of the operating system, where it is a thread's", kNoRow}, t.tid);
  visit(ColumnSpec{"correlation", "1", "of the call in which it happened", kNoRow}, t.correlation);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<GraphTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "start on the GPU, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"graph", "1", "CUPTI's number for the graph", kNoRow}, t.graph);
  visit(ColumnSpec{"device", "index of /job/devices", "GPU", kNoNumber}, t.device);
  visit(ColumnSpec{"context", "1", "CUPTI's number for the CUDA context", kNoIndex}, t.context);
  visit(ColumnSpec{"stream", "1", "CUPTI's number for the CUDA stream", kNoIndex}, t.stream);
  visit(ColumnSpec{"correlation", "1", "what the launching call has as well", kNoRow}, t.correlation);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<SyncTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "begin, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"kind", "word", "what waited for what", SyncKind::kMissing}, t.kind);
  visit(ColumnSpec{"context", "1", "CUPTI's number for the CUDA context", kNoIndex}, t.context);
  visit(ColumnSpec{"stream", "1", "CUPTI's number for the CUDA stream", kNoIndex}, t.stream);
  visit(ColumnSpec{"event", "1", "CUPTI's number for the CUDA event", kNoRow}, t.event);
  visit(ColumnSpec{"correlation", "1", "what the waiting call has as well", kNoRow}, t.correlation);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<CudaEventTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "when the GPU reached it, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"event", "1", "CUPTI's number for the CUDA event", kNoRow}, t.event);
  visit(ColumnSpec{"context", "1", "CUPTI's number for the CUDA context", kNoIndex}, t.context);
  visit(ColumnSpec{"stream", "1", "CUPTI's number for the CUDA stream", kNoIndex}, t.stream);
  visit(ColumnSpec{"flags", "bits", kWorkFlagsText, std::uint16_t{0}}, t.flags);
}

template <Is<LaunchConfigTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"grid_x", "1", "blocks", kNoIndex}, t.grid_x);
  visit(ColumnSpec{"grid_y", "1", "blocks", kNoIndex}, t.grid_y);
  visit(ColumnSpec{"grid_z", "1", "blocks", kNoIndex}, t.grid_z);
  visit(ColumnSpec{"block_x", "1", "threads", kNoIndex}, t.block_x);
  visit(ColumnSpec{"block_y", "1", "threads", kNoIndex}, t.block_y);
  visit(ColumnSpec{"block_z", "1", "threads", kNoIndex}, t.block_z);
  visit(ColumnSpec{"cluster_x", "1", "blocks, 0 without clusters", kNoIndex}, t.cluster_x);
  visit(ColumnSpec{"cluster_y", "1", "blocks, 0 without clusters", kNoIndex}, t.cluster_y);
  visit(ColumnSpec{"cluster_z", "1", "blocks, 0 without clusters", kNoIndex}, t.cluster_z);
  visit(ColumnSpec{"registers", "1", "registers a thread", kNoIndex}, t.registers);
  visit(ColumnSpec{"static_shared_bytes", "bytes", "static shared memory a block", kNoIndex}, t.static_shared_bytes);
  visit(ColumnSpec{"dynamic_shared_bytes", "bytes", "dynamic shared memory a block", kNoIndex}, t.dynamic_shared_bytes);
  visit(ColumnSpec{"local_bytes", "bytes", "local memory a thread", kNoIndex}, t.local_bytes);
}

template <Is<NcclWorkTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"call", "row of /events/nccl", "the call", kNoRow}, t.call);
  visit(ColumnSpec{"kernel", "row of /events/kernels", "a kernel that carried it out", kNoRow}, t.kernel);
  visit(ColumnSpec{"memop", "row of /events/memops", "a copy that carried it out", kNoRow}, t.memop);
  visit(ColumnSpec{"path", "word", "how it is known", JoinPath::kMissing}, t.path);
}

template <Is<SegmentTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"process", "index of /job/processes", "process whose window it is", kNoIndex}, t.process);
  visit(ColumnSpec{"segment", "1", "number of the opening in its process, from 0", kNoIndex}, t.segment);
  visit(ColumnSpec{"open_ns", "ns", "opening, on the run's time axis", kNoTime}, t.open_ns);
  visit(ColumnSpec{"close_ns", "ns", "closing, on the run's time axis, missing if it was never told", kNoTime},
        t.close_ns);
  visit(ColumnSpec{"open_cause", "word", "why it opened", WindowCause::kMissing}, t.open_cause);
  visit(ColumnSpec{"close_cause", "word", "why it closed", WindowCause::kMissing}, t.close_cause);
  visit(ColumnSpec{"open_step", "1", "number of the step that opened it", kNoPayload}, t.open_step);
  visit(ColumnSpec{"close_step", "1", "number of the step that closed it", kNoPayload}, t.close_step);
}

constexpr TableSpec spec_of(const KernelTable&) {
  return {"/events/kernels", false, "process, start_ns", "n_rows", "GPU kernels"};
}
constexpr TableSpec spec_of(const MemopTable&) {
  return {"/events/memops", false, "process, start_ns", "n_rows", "copies and sets of GPU memory"};
}
constexpr TableSpec spec_of(const ApiTable&) {
  return {"/events/api", false, "process, start_ns", "n_rows", "CUDA API calls"};
}
constexpr TableSpec spec_of(const OverheadTable&) {
  return {"/events/overhead", false, "process, start_ns", "n_rows", "what recording GPUs cost"};
}
constexpr TableSpec spec_of(const GraphTable&) {
  return {"/events/graphs", false, "process, start_ns", "n_rows", "CUDA graphs as a whole"};
}
constexpr TableSpec spec_of(const SyncTable&) {
  return {"/events/syncs", false, "process, start_ns", "n_rows", "waits for GPUs"};
}
constexpr TableSpec spec_of(const CudaEventTable&) {
  return {"/events/cuda_events", false, "process, start_ns", "n_rows", "records of CUDA events"};
}
constexpr TableSpec spec_of(const LaunchConfigTable&) {
  return {"/launch_configs", false, "none", "n_rows", "how kernels were launched"};
}
constexpr TableSpec spec_of(const NcclWorkTable&) {
  return {"/nccl_work", false, "call, kernel, memop", "n_rows", "which GPU work carried out which NCCL call"};
}
constexpr TableSpec spec_of(const SegmentTable&) {
  return {"/segments", false, "process, segment", "n_rows", "openings of windows"};
}

}  // namespace jaxprof::runfile
