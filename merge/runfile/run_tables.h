// A whole run in memory, as the merge hands it to the writer and the reader hands it to a study: one struct a table,
// one vector a column, row i of a table is element i of each of its vectors. No HDF5 here. What each column means,
// its unit and its missing value stand in schema.h and the headers that it includes, once; table_rows.h adds rows that
// start out all missing.
//
// All times are int64 ns on the run's time axis, relative to RunAttributes::epoch_unix_ns, and never negative.
// Indices (process, node, comm, row) are positions in the table they name.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "merge/runfile/clock_tables.h"
#include "merge/runfile/counter_table.h"
#include "merge/runfile/enums.h"
#include "merge/runfile/event_tables.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::runfile {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFFU;                                // missing u32 index
inline constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();    // missing u64 row or amount
inline constexpr std::int32_t kNoNumber = -1;                                         // missing rank, peer, device, …
inline constexpr std::uint16_t kNoShort = 0xFFFFU;                                    // missing u16
inline constexpr std::uint8_t kNoByte = 0xFFU;                                        // missing u8
inline constexpr std::int64_t kNoTime = -1;                                           // missing time or duration
inline constexpr std::int64_t kNoPayload = std::numeric_limits<std::int64_t>::min();  // missing NVTX payload, step

// Text of at most N - 1 bytes, NUL padded, for the fixed-width columns of /job. Longer text is cut.
template <std::size_t N>
struct FixedText {
  static constexpr std::size_t kBytes = N;
  std::array<char, N> bytes{};

  FixedText() = default;
  template <std::convertible_to<std::string_view> Text>
  FixedText(const Text& text) {  // NOLINT: as plain as a string
    std::string_view{text}.substr(0, N - 1).copy(bytes.data(), N - 1);
  }
  std::string_view view() const {
    const std::string_view all{bytes.data(), N};
    return all.substr(0, all.find('\0'));
  }
  bool operator==(const FixedText&) const = default;
};

// The attributes of the root group; schema names and versions are the writer's own.
struct RunAttributes {
  std::int64_t created_unix_ns = 0;  // last stamp of the run: a file does not depend on when it was merged
  std::int64_t epoch_unix_ns = 0;    // zero of the run's time axis
  std::string run_id;
  std::string job_id;
  std::string step_id;
  std::int32_t restart = 0;
  std::string launcher;
  std::uint32_t world_size = 0;
  std::uint32_t n_nodes = 0;
  std::uint32_t n_processes = 0;
  std::uint64_t n_dropped = 0;  // sum over all processes and causes
  std::uint8_t redacted = 0;
  std::string cmdline;
  std::string clock_method = "wall_clock";
  double clock_bound_ns = std::numeric_limits<double>::quiet_NaN();  // NaN: unknown
  double clock_sigma_ns = std::numeric_limits<double>::quiet_NaN();  // NaN: unknown
  std::string selection;
  std::string output_template;
  std::string step_marker;  // "" if the spools do not say
  std::string window;       // "" for one that is always open
  std::string trace;        // -t of each task, joined by " | "; "" if the spools do not say
};

// /job/tasks: one row a task that the launcher started or should have started.
struct TaskTable {
  std::vector<std::uint32_t> task;
  std::vector<std::int32_t> rank;
  std::vector<std::uint32_t> node;
  std::vector<TaskState> state;
  std::vector<StringId> reason;
  std::vector<std::int32_t> exit_code;
  std::vector<std::int32_t> signal;
  std::vector<StringId> output;
  std::vector<StringId> host;
  std::vector<std::int64_t> pid;
  std::vector<std::int32_t> restart;
};

// /job/processes: one row a process with a spool; position = the process index of every other table.
struct ProcessTable {
  std::vector<std::uint32_t> process;
  std::vector<std::uint32_t> task;
  std::vector<std::int32_t> rank;
  std::vector<StringId> rank_source;
  std::vector<std::int32_t> world_size;
  std::vector<std::int32_t> local_rank;
  std::vector<std::int32_t> restart;
  std::vector<std::int64_t> pid;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<std::uint32_t> node;
  std::vector<std::int32_t> exit;
  std::vector<std::uint8_t> is_complete;
  std::vector<std::uint64_t> n_events;
  std::vector<std::uint64_t> n_dropped;
  std::vector<std::uint32_t> nvtx_instances;
  std::vector<std::uint32_t> nccl_version;
  std::vector<std::uint32_t> plugin_version;
  std::vector<StringId> spool;
  std::vector<std::uint64_t> spool_bytes;
  std::vector<StringId> event_clock;
  std::vector<GpuMode> gpu_mode;
  std::vector<std::uint32_t> cupti_version;
  std::vector<StringId> gpu_note;
  std::vector<double> gpu_clock_residual_ns;
};

// /job/devices: one row a GPU; position = device index.
struct DeviceTable {
  std::vector<std::uint32_t> device;
  std::vector<std::uint32_t> node;
  std::vector<std::uint32_t> process;
  std::vector<std::int32_t> ordinal;
  std::vector<FixedText<48>> uuid;
  std::vector<FixedText<16>> pci;
  std::vector<StringId> name;
  std::vector<std::uint32_t> capability;
  std::vector<std::uint32_t> processors;
  std::vector<std::uint64_t> memory_bytes;
  std::vector<std::int32_t> numa;
  std::vector<StringId> driver;
  std::vector<std::uint64_t> power_limit_mw;
  std::vector<std::uint32_t> sm_clock_max_mhz;
};

// /job/nodes: one row a boot of an operating system; position = node index.
struct NodeTable {
  std::vector<std::uint32_t> node;
  std::vector<StringId> host;
  std::vector<FixedText<40>> boot_id;
  std::vector<std::uint32_t> n_processes;
  std::vector<std::uint32_t> n_tasks;
};

// /job/nics: one row a network port.
struct NicTable {
  std::vector<std::uint32_t> nic;
  std::vector<std::uint32_t> node;
  std::vector<FixedText<16>> name;
  std::vector<FixedText<24>> guid;
  std::vector<std::int32_t> port;
  std::vector<FixedText<16>> link_layer;
  std::vector<double> rate_gbps;
  std::vector<std::int32_t> numa;
  std::vector<StringId> driver;
  std::vector<FixedText<16>> pci;
  std::vector<StringId> netdev;
  std::vector<StringId> full_name;
  std::vector<NicSource> source;
  std::vector<StringId> reason;
  std::vector<std::int64_t> period_ns;
  std::vector<std::int64_t> slow_period_ns;
  std::vector<std::int64_t> lifespan_ns;
  std::vector<std::uint8_t> is_active;
};

// /job/observers: one row a program that read counters on a node.
struct ObserverTable {
  std::vector<std::uint32_t> observer;
  std::vector<std::uint32_t> node;
  std::vector<std::uint32_t> segment;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<std::uint8_t> is_complete;
  std::vector<std::uint8_t> is_shared;
  std::vector<std::uint64_t> ticks;
  std::vector<std::uint64_t> missed_ticks;
  std::vector<std::int64_t> lateness_max_ns;
  std::vector<std::int64_t> lateness_sum_ns;
  std::vector<std::int64_t> reading_ns;
  std::vector<std::int64_t> cpu_ns;
  std::vector<StringId> spool;
  std::vector<std::uint64_t> spool_bytes;
};

// /job/env: one row a variable and value, and one for the tasks on which it is not set; the tasks of row i are
// [env_task_offset[i], env_task_offset[i + 1]) of EnvTaskTable, ascending. The rows of one name divide all tasks whose
// environment was recorded.
struct EnvTable {
  std::vector<StringId> name;
  std::vector<StringId> value;
  std::vector<std::uint8_t> is_set;
  std::vector<std::uint32_t> n_tasks;
  std::vector<StringId> ranks;
  std::vector<EnvScope> scope;
  std::vector<std::uint8_t> is_per_task;
};
struct EnvTaskTable {
  std::vector<std::uint32_t> task;
};

// /comms: one row a communicator; its members are [member_offset[i], member_offset[i + 1]) of the member columns.
struct CommTable {
  std::vector<std::uint32_t> comm;
  std::vector<std::uint64_t> hash;
  std::vector<StringId> name;
  std::vector<std::uint32_t> n_ranks;
  std::vector<std::uint32_t> n_nodes;
  std::vector<std::uint32_t> parent;
};
struct CommMemberTable {  // in order of communicator rank
  std::vector<std::uint32_t> member_process;
  std::vector<std::int32_t> member_comm_rank;
  std::vector<std::int32_t> member_device;
};

// /diagnostics: what went wrong or is missing, with its cause.
struct DiagnosticTable {
  std::vector<Severity> severity;
  std::vector<std::int32_t> rank;
  std::vector<std::uint32_t> process;
  std::vector<std::uint32_t> node;
  std::vector<StringId> code;  // a stable short word, e.g. "drop.ring", "missing.rank", "torn.block"
  std::vector<std::uint64_t> count;
  std::vector<StringId> text;
};

// The offsets have one element more than what they partition; {0} when that is empty.
struct RunTables : EventTables {
  RunAttributes attributes;
  StringTable strings;
  TaskTable tasks;
  ProcessTable processes;
  DeviceTable devices;
  NodeTable nodes;
  NicTable nics;
  ObserverTable observers;
  EnvTable env;
  std::vector<std::uint64_t> env_task_offset{0};
  EnvTaskTable env_tasks;
  CommTable comms;
  std::vector<std::uint64_t> comm_member_offset{0};
  CommMemberTable comm_members;
  std::vector<std::uint64_t> nvtx_process_offset{0};
  std::vector<std::uint64_t> nccl_process_offset{0};
  std::vector<std::uint64_t> kernel_process_offset{0};
  std::vector<std::uint64_t> memop_process_offset{0};
  std::vector<std::uint64_t> api_process_offset{0};
  std::vector<std::uint64_t> overhead_process_offset{0};
  std::vector<std::uint64_t> graph_process_offset{0};
  std::vector<std::uint64_t> sync_process_offset{0};
  std::vector<std::uint64_t> cuda_event_process_offset{0};
  LaunchConfigTable launch_configs;
  SegmentTable segments;
  std::vector<std::uint64_t> step_process_offset{0};
  std::vector<std::uint64_t> collective_member_offset{0};
  DiagnosticTable diagnostics;
  ClockNodeTable clock_nodes;
  ClockLinkTable clock_links;
  ClockBurstTable clock_bursts;
  ClockAnchorTable clock_anchors;
  ClockDisciplineTable clock_discipline;
  ClockStepTable clock_steps;
  ClockModelTable clock_model;
  std::vector<std::uint64_t> clock_model_offset{0};
  ClockAuditTable clock_audit;
  std::vector<CounterTable> counters;  // by driver; GPUs last
};

}  // namespace jaxprof::runfile
