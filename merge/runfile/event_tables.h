// What happened in a run, as columns: NVTX ranges, NCCL calls, steps, matched instances, and (gpu_tables.h) what GPUs
// did. These tables may be longer than memory: the merge makes and writes them in parts, one process after the other.
// EventTables is such a part, or all of them. Meanings, units and missing values stand in schema.h and gpu_schema.h.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/enums.h"
#include "merge/runfile/gpu_tables.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::runfile {

// /events/nvtx, ordered by (process, start_ns).
struct NvtxTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<StringId> domain;
  std::vector<std::uint64_t> tid;
  std::vector<std::uint16_t> depth;
  std::vector<std::uint64_t> parent;
  std::vector<std::int64_t> payload;
  std::vector<double> payload_f64;
  std::vector<StringId> category;
  std::vector<NvtxKind> kind;
  std::vector<std::uint16_t> flags;
  std::vector<std::int64_t> gpu_start_ns;
  std::vector<std::int64_t> gpu_dur_ns;
  std::vector<std::uint32_t> gpu_ops;
};

// /steps, ordered by (process, start_ns).
struct StepTable {
  std::vector<std::int64_t> step;
  std::vector<std::uint32_t> process;
  std::vector<std::uint64_t> tid;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<StepSource> source;
};

// /events/nccl, ordered by (process, start_ns): one row a call, plus the P2P rows that make up a call.
struct NcclTable {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> enqueue_ns;
  std::vector<std::int64_t> end_api_ns;
  std::vector<std::int64_t> gpu_start_ns;
  std::vector<std::int64_t> gpu_dur_ns;
  std::vector<std::uint32_t> comm;
  std::vector<std::int32_t> comm_rank;
  std::vector<std::int32_t> device;
  std::vector<std::uint64_t> seq;
  std::vector<Coll> coll;
  std::vector<StringId> api;
  std::vector<Dtype> dtype;
  std::vector<Redop> redop;
  std::vector<Algo> algo;
  std::vector<Proto> proto;
  std::vector<std::uint8_t> channels;
  std::vector<std::uint64_t> count;
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> size_bytes;
  std::vector<std::int32_t> root;
  std::vector<std::int32_t> peer;
  std::vector<std::uint64_t> group;
  std::vector<std::uint64_t> parent;
  std::vector<std::uint64_t> tid;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint8_t> graph;
  std::vector<NcclSource> src;
  std::vector<std::uint16_t> flags;
  std::vector<std::uint64_t> instance;
  std::vector<std::uint64_t> capture;
  std::vector<std::uint64_t> replay;
  std::vector<Timing> timing;
  std::vector<JoinPath> path;
  std::vector<std::uint64_t> transfer;
};

// Bits of NcclTable::flags.
inline constexpr std::uint16_t kCallOnSeveralGpus = 1;  // its group's work is, and nothing tells which is the call's

// Bits of CollectiveTable::flags, and of TransferTable::flags, where the members are the two sides.
inline constexpr std::uint16_t kInstancePartial = 1;   // n_seen < n_ranks
inline constexpr std::uint16_t kInstanceGrouped = 2;   // a member ran in one kernel with other calls
inline constexpr std::uint16_t kInstanceMismatch = 4;  // members disagree on type, size or reduction
// Members are on several nodes, and their clocks cannot tell who was first and last: they are apart by no more than
// three sigma, or nobody knows how far the clocks are.
inline constexpr std::uint16_t kInstanceUnresolved = 8;
inline constexpr std::uint16_t kInstanceCertain = 16;  // members are apart by more than the clocks can be

// /collectives, ordered by (comm, seq, coll, capture, replay): one row a matched instance; its members' rows of
// /events/nccl are [member_offset[i], member_offset[i + 1]) of event_row, in order of communicator rank.
struct CollectiveTable {
  std::vector<std::uint32_t> comm;
  std::vector<std::uint64_t> seq;
  std::vector<Coll> coll;
  std::vector<Dtype> dtype;
  std::vector<Algo> algo;
  std::vector<Proto> proto;
  std::vector<std::uint64_t> size_bytes;
  std::vector<std::uint32_t> n_ranks;
  std::vector<std::uint32_t> n_seen;
  std::vector<std::int64_t> first_enqueue_ns;
  std::vector<std::int64_t> last_enqueue_ns;
  std::vector<std::int32_t> last_member;
  std::vector<std::int64_t> first_start_ns;
  std::vector<std::int64_t> last_start_ns;
  std::vector<std::int64_t> first_end_ns;
  std::vector<std::int64_t> last_end_ns;
  std::vector<std::uint16_t> flags;
  std::vector<std::uint64_t> capture;
  std::vector<std::uint64_t> replay;
  std::vector<std::int32_t> last_arrival;
  std::vector<double> clock_sigma_ns;
  std::vector<double> clock_bound_ns;
};
struct CollectiveMemberTable {
  std::vector<std::uint64_t> event_row;
};

// /transfers, ordered by (comm, source, destination, seq, coll, capture, replay): one row a send with its receive.
struct TransferTable {
  std::vector<std::uint32_t> comm;
  std::vector<std::int32_t> source;
  std::vector<std::int32_t> destination;
  std::vector<std::uint64_t> seq;
  std::vector<Coll> coll;  // kSend, or the call that both sides are parts of
  std::vector<Dtype> dtype;
  std::vector<std::uint64_t> size_bytes;
  std::vector<std::uint64_t> send_row;
  std::vector<std::uint64_t> recv_row;
  std::vector<std::int64_t> send_enqueue_ns;
  std::vector<std::int64_t> recv_enqueue_ns;
  std::vector<std::int64_t> send_start_ns;
  std::vector<std::int64_t> recv_start_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<std::uint16_t> flags;
  std::vector<std::uint64_t> capture;
  std::vector<std::uint64_t> replay;
  std::vector<double> clock_sigma_ns;
  std::vector<double> clock_bound_ns;
};

// Rows of all tables of events. In a part, numbers of rows, of strings and of devices are already those of the run, and
// the tables' rows stand behind those of the parts before it.
struct EventTables {
  NvtxTable nvtx;
  NcclTable nccl;
  KernelTable kernels;
  MemopTable memops;
  ApiTable api;
  OverheadTable overhead;
  GraphTable graphs;
  SyncTable syncs;
  CudaEventTable cuda_events;
  NcclWorkTable nccl_work;
  StepTable steps;
  CollectiveTable collectives;
  CollectiveMemberTable collective_members;
  TransferTable transfers;
};

}  // namespace jaxprof::runfile
