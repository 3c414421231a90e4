// What GPUs did, as columns: kernels, copies, API calls and what else CUPTI tells, the configurations that kernels were
// launched with, which work carried out which NCCL call, and when windows were open. Part of RunTables; meanings, units
// and missing values stand in gpu_schema.h.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/enums.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::runfile {

// Bits of `flags` of every table below /events that has records of GPUs.
inline constexpr std::uint16_t kWorkNoTime = 1;          // CUPTI gave no times, or no length
inline constexpr std::uint16_t kWorkEndFirst = 2;        // it ended before it started: its length is missing
inline constexpr std::uint16_t kWorkBeforeLaunch = 4;    // it started before the call that launched it
inline constexpr std::uint16_t kWorkOutside = 8;         // neither it nor its launch touches a window of its process
inline constexpr std::uint16_t kWorkAmbiguousTime = 16;  // the clock was set back: its time may be another
inline constexpr std::uint16_t kWorkBeforeWindow = 32;  // it ran in a window that opened again, and was launched before

// /events/kernels, ordered by (process, start_ns).
struct KernelTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<std::int32_t> device;
  std::vector<std::uint32_t> context;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint64_t> correlation;
  std::vector<std::uint64_t> api;
  std::vector<std::uint32_t> launch_config;
  std::vector<std::uint64_t> graph;
  std::vector<std::uint64_t> graph_node;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint16_t> flags;
};

// /events/memops: copies and sets, ordered by (process, start_ns).
struct MemopTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<MemopKind> kind;
  std::vector<std::uint64_t> bytes;
  std::vector<MemoryKind> src;
  std::vector<MemoryKind> dst;
  std::vector<std::uint32_t> value;
  std::vector<std::int32_t> device;
  std::vector<std::int32_t> peer;
  std::vector<std::uint32_t> context;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint64_t> correlation;
  std::vector<std::uint64_t> api;
  std::vector<std::uint64_t> graph;
  std::vector<std::uint64_t> graph_node;
  std::vector<std::uint16_t> flags;
};

// /events/api: CUDA calls, ordered by (process, start_ns).
struct ApiTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<ApiLayer> layer;
  std::vector<std::uint64_t> tid;
  std::vector<std::uint64_t> correlation;
  std::vector<std::int32_t> result;
  std::vector<std::uint16_t> flags;
};

// /events/overhead: what tracing itself cost, ordered by (process, start_ns).
struct OverheadTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<OverheadKind> kind;
  std::vector<std::uint64_t> tid;
  std::vector<std::uint64_t> correlation;
  std::vector<std::uint16_t> flags;
};

// /events/graphs: whole CUDA graphs, ordered by (process, start_ns).
struct GraphTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<std::uint64_t> graph;
  std::vector<std::int32_t> device;
  std::vector<std::uint32_t> context;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint64_t> correlation;
  std::vector<std::uint16_t> flags;
};

// /events/syncs: waits for GPUs, ordered by (process, start_ns).
struct SyncTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<SyncKind> kind;
  std::vector<std::uint32_t> context;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint64_t> event;
  std::vector<std::uint64_t> correlation;
  std::vector<std::uint16_t> flags;
};

// /events/cuda_events: cudaEventRecord, ordered by (process, start_ns).
struct CudaEventTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::uint64_t> event;
  std::vector<std::uint32_t> context;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint16_t> flags;
};

// /launch_configs: one row for each way in which kernels were launched; position = index.
struct LaunchConfigTable {
  std::vector<std::uint32_t> grid_x;
  std::vector<std::uint32_t> grid_y;
  std::vector<std::uint32_t> grid_z;
  std::vector<std::uint32_t> block_x;
  std::vector<std::uint32_t> block_y;
  std::vector<std::uint32_t> block_z;
  std::vector<std::uint32_t> cluster_x;
  std::vector<std::uint32_t> cluster_y;
  std::vector<std::uint32_t> cluster_z;
  std::vector<std::uint32_t> registers;
  std::vector<std::uint32_t> static_shared_bytes;
  std::vector<std::uint32_t> dynamic_shared_bytes;
  std::vector<std::uint32_t> local_bytes;
};

// /nccl_work: which kernels and copies carried out which call, ordered by (call, kernel, memop). A kernel may carry out
// several calls, and a call may take several kernels.
struct NcclWorkTable {
  std::vector<std::uint64_t> call;
  std::vector<std::uint64_t> kernel;
  std::vector<std::uint64_t> memop;
  std::vector<JoinPath> path;
};

// /segments, ordered by (process, segment): each opening of a process's window.
struct SegmentTable {
  std::vector<std::uint32_t> process;
  std::vector<std::uint32_t> segment;
  std::vector<std::int64_t> open_ns;
  std::vector<std::int64_t> close_ns;
  std::vector<WindowCause> open_cause;
  std::vector<WindowCause> close_cause;
  std::vector<std::int64_t> open_step;
  std::vector<std::int64_t> close_step;
};

}  // namespace jaxprof::runfile
