// A file format drifts when its writer, its reader and its description each spell a dataset's name. This header is the
// one place that does, with gpu_schema.h for what GPUs did, node_schema.h for nodes and what is in them,
// clock_schema.h for clocks, and counter_schema.h for samples: for every table of run_tables.h it lists the columns
// with the name in the file, the unit, the meaning and the missing value. The element type is that of the vector, so it
// cannot disagree. Writer, reader and checks visit these lists; a test compares FORMAT.md with them. How the columns
// lie in HDF5 is not said here.
//
// A visitor of for_each_column is called as visit(ColumnSpec<T>, std::vector<T>&), in the order of the file.
#pragma once

#include "merge/runfile/clock_schema.h"
#include "merge/runfile/column_spec.h"
#include "merge/runfile/counter_schema.h"
#include "merge/runfile/gpu_schema.h"
#include "merge/runfile/node_schema.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

inline constexpr std::string_view kSchemaName = "jaxprof/1";
inline constexpr std::string_view kSchemaVersion = "1.4.0";

template <Is<TaskTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"task", "1", "task of the job step, counted from 0", kNoIndex}, t.task);
  visit(ColumnSpec{"rank", "1", "rank of the task's wrapper", kNoNumber}, t.rank);
  visit(ColumnSpec{"node", "index of /job/nodes", "node the task ran on", kNoIndex}, t.node);
  visit(ColumnSpec{"state", "word", "what became of the task's profile", TaskState::kMissing}, t.state);
  visit(ColumnSpec{"reason", "index of /strings/value", "why the task is not profiled", kNoText}, t.reason);
  visit(ColumnSpec{"exit_code", "1", "exit status of the task's command", kNoNumber}, t.exit_code);
  visit(ColumnSpec{"signal", "1", "signal that ended the task's command", kNoNumber}, t.signal);
  visit(ColumnSpec{"output", "index of /strings/value", "the task's file in the run directory", kNoText}, t.output);
  visit(ColumnSpec{"host", "index of /strings/value", "host name the task saw", kNoText}, t.host);
  visit(ColumnSpec{"pid", "1", "process id of the task's command", kNoTime}, t.pid);
  visit(ColumnSpec{"restart", "1", "restart count of the job", kNoNumber}, t.restart);
}

template <Is<ProcessTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"process", "1", "index of the process, equal to the row", kNoIndex}, t.process);
  visit(ColumnSpec{"task", "1", "task the process belongs to", kNoIndex}, t.task);
  visit(ColumnSpec{"rank", "1", "rank of the process in the job", kNoNumber}, t.rank);
  visit(ColumnSpec{"rank_source", "index of /strings/value", "variable that gave the rank", kNoText}, t.rank_source);
  visit(ColumnSpec{"world_size", "1", "number of ranks that the process saw", kNoNumber}, t.world_size);
  visit(ColumnSpec{"local_rank", "1", "rank of the process on its node", kNoNumber}, t.local_rank);
  visit(ColumnSpec{"restart", "1", "restart count of the job", kNoNumber}, t.restart);
  visit(ColumnSpec{"pid", "1", "process id", kNoTime}, t.pid);
  visit(ColumnSpec{"start_ns", "ns", "attach of the agent, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"end_ns", "ns", "last stamp of the spool, on the run's time axis", kNoTime}, t.end_ns);
  visit(ColumnSpec{"node", "index of /job/nodes", "node the process ran on", kNoIndex}, t.node);
  visit(ColumnSpec{"exit", "1", "exit status, known of the process that the wrapper started", kNoNumber}, t.exit);
  visit(ColumnSpec{"is_complete", "flag", "1 if the spool has its footer", kNoByte}, t.is_complete);
  visit(ColumnSpec{"n_events", "1",
                   "records in the spool that could be read: each begin, end and mark, and each plugin event, is one",
                   kNoRow},
        t.n_events);
  visit(ColumnSpec{"n_dropped", "1", "events lost, all causes together", kNoRow}, t.n_dropped);
  visit(ColumnSpec{"nvtx_instances", "1", "copies of NVTX that attached", kNoIndex}, t.nvtx_instances);
  visit(ColumnSpec{"nccl_version", "1", "NCCL_VERSION_CODE", kNoIndex}, t.nccl_version);
  visit(ColumnSpec{"plugin_version", "1", "profiler plugin interface that NCCL took, 0 for none", kNoIndex},
        t.plugin_version);
  visit(ColumnSpec{"spool", "index of /strings/value", "the process's spool file", kNoText}, t.spool);
  visit(ColumnSpec{"spool_bytes", "bytes", "length of the spool file", kNoRow}, t.spool_bytes);
  visit(ColumnSpec{"event_clock", "index of /strings/value", "clock that stamped the events", kNoText}, t.event_clock);
  visit(ColumnSpec{"gpu_mode", "word", "how CUPTI recorded its GPUs", GpuMode::kMissing}, t.gpu_mode);
  visit(ColumnSpec{"cupti_version", "1", "what cuptiGetVersion said", kNoIndex}, t.cupti_version);
  visit(ColumnSpec{"gpu_note", "index of /strings/value", "why GPUs were not recorded, or only in part", kNoText},
        t.gpu_note);
  visit(ColumnSpec{"gpu_clock_residual_ns", "ns",
                   "by how much a reading of CUPTI's clock lies off the line between its neighbours, at most", kNoReal},
        t.gpu_clock_residual_ns);
}

template <Is<CommTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"comm", "1", "index of the communicator, equal to the row", kNoIndex}, t.comm);
  visit(ColumnSpec{"hash", "1", "NCCL's communicator hash", kNoRow}, t.hash);
  visit(ColumnSpec{"name", "index of /strings/value", "communicator name", kNoText}, t.name);
  visit(ColumnSpec{"n_ranks", "1", "members, seen or not", kNoIndex}, t.n_ranks);
  visit(ColumnSpec{"n_nodes", "1", "nodes of the members", kNoIndex}, t.n_nodes);
  visit(ColumnSpec{"parent", "index of /comms", "communicator it was split from", kNoIndex}, t.parent);
}

template <Is<CommMemberTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"member_process", "index of /job/processes", "process of the member", kNoIndex}, t.member_process);
  visit(ColumnSpec{"member_comm_rank", "1", "rank in the communicator", kNoNumber}, t.member_comm_rank);
  visit(ColumnSpec{"member_device", "index of /job/devices", "GPU of the member", kNoNumber}, t.member_device);
}

template <Is<NvtxTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "begin, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length, missing if the range never ended, 0 for a mark", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"name", "index of /strings/value", "message of the range", kNoText}, t.name);
  visit(ColumnSpec{"domain", "index of /strings/value", "NVTX domain, empty for the default one", kNoText}, t.domain);
  visit(ColumnSpec{"tid", "1", "thread id of the operating system", kNoRow}, t.tid);
  visit(ColumnSpec{"depth", "1", "open push/pop ranges of the thread and domain around it; 0 if it was not pushed",
                   kNoShort},
        t.depth);
  visit(ColumnSpec{"parent", "row of /events/nvtx", "push/pop range around it, of the same thread and domain", kNoRow},
        t.parent);
  visit(ColumnSpec{"payload", "1", "integer payload", kNoPayload}, t.payload);
  visit(ColumnSpec{"payload_f64", "1", "floating-point payload", kNoReal}, t.payload_f64);
  visit(ColumnSpec{"category", "index of /strings/value", "category name", kNoText}, t.category);
  visit(ColumnSpec{"kind", "word", "push/pop, start/end or mark", NvtxKind::kMissing}, t.kind);
  visit(ColumnSpec{"flags", "bits", "reserved, 0; never missing", std::uint16_t{0}}, t.flags);
  visit(ColumnSpec{"gpu_start_ns", "ns", "start of the first GPU work that its thread launched in it", kNoTime},
        t.gpu_start_ns);
  visit(ColumnSpec{"gpu_dur_ns", "ns", "from there to the end of the last of that work", kNoTime}, t.gpu_dur_ns);
  visit(ColumnSpec{"gpu_ops", "1", "kernels, copies and sets that its thread launched in it", kNoIndex}, t.gpu_ops);
}

template <Is<NcclTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"start_ns", "ns", "begin of the host call, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"enqueue_ns", "ns", "host enqueue of the work, on the run's time axis", kNoTime}, t.enqueue_ns);
  visit(ColumnSpec{"end_api_ns", "ns", "end of the host call, on the run's time axis", kNoTime}, t.end_api_ns);
  visit(ColumnSpec{"gpu_start_ns", "ns", "start of its first kernel or copy, on the run's time axis", kNoTime},
        t.gpu_start_ns);
  visit(ColumnSpec{"gpu_dur_ns", "ns", "from there to the end of its last one", kNoTime}, t.gpu_dur_ns);
  visit(ColumnSpec{"comm", "index of /comms", "communicator", kNoIndex}, t.comm);
  visit(ColumnSpec{"comm_rank", "1", "rank in the communicator", kNoNumber}, t.comm_rank);
  visit(ColumnSpec{"device", "index of /job/devices", "GPU of the call", kNoNumber}, t.device);
  visit(ColumnSpec{"seq", "1", "sequence number of the call on its communicator and function", kNoRow}, t.seq);
  visit(ColumnSpec{"coll", "word", "operation", Coll::kMissing}, t.coll);
  visit(ColumnSpec{"api", "index of /strings/value", "NCCL function that the user called", kNoText}, t.api);
  visit(ColumnSpec{"dtype", "word", "element type", Dtype::kMissing}, t.dtype);
  visit(ColumnSpec{"redop", "word", "reduction", Redop::kMissing}, t.redop);
  visit(ColumnSpec{"algo", "word", "algorithm", Algo::kMissing}, t.algo);
  visit(ColumnSpec{"proto", "word", "protocol", Proto::kMissing}, t.proto);
  visit(ColumnSpec{"channels", "1", "channels used", kNoByte}, t.channels);
  visit(ColumnSpec{"count", "elements", "count argument of the call", kNoRow}, t.count);
  visit(
      ColumnSpec{"bytes", "bytes", "size a rank, NCCL's convention (AllGather: send, ReduceScatter: receive)", kNoRow},
      t.bytes);
  visit(ColumnSpec{"size_bytes", "bytes", "size in nccl-tests' convention (AllGather, ReduceScatter, AllToAll: total)",
                   kNoRow},
        t.size_bytes);
  visit(ColumnSpec{"root", "1", "root, rank in the communicator", kNoNumber}, t.root);
  visit(ColumnSpec{"peer", "1", "other side of a Send or Recv, rank in the communicator", kNoNumber}, t.peer);
  visit(ColumnSpec{"group", "1", "number of the group call in the process", kNoRow}, t.group);
  visit(ColumnSpec{"parent", "row of /events/nccl", "call of which this Send or Recv is a part", kNoRow}, t.parent);
  visit(ColumnSpec{"tid", "1", "thread id of the operating system", kNoRow}, t.tid);
  visit(ColumnSpec{"stream", "1", "CUPTI's number for the CUDA stream; without GPU records counted by first use",
                   kNoIndex},
        t.stream);
  visit(ColumnSpec{"graph", "flag", "1 if the call was captured into a CUDA graph", kNoByte}, t.graph);
  visit(ColumnSpec{"src", "word", "which source made the row", NcclSource::kMissing}, t.src);
  visit(ColumnSpec{"flags", "bits", "1 work on several GPUs, its own unknown; 0 for none, never missing",
                   std::uint16_t{0}},
        t.flags);
  visit(ColumnSpec{"instance", "row of /collectives", "instance the call belongs to", kNoRow}, t.instance);
  visit(
      ColumnSpec{"capture", "1", "of a captured call: which of those of its member, function and seq, from 0", kNoRow},
      t.capture);
  visit(ColumnSpec{"replay", "1", "which replay of its CUDA graph, from 0", kNoRow}, t.replay);
  visit(ColumnSpec{"timing", "word", "where the row's times come from", Timing::kMissing}, t.timing);
  visit(ColumnSpec{"path", "word", "how it is known which GPU work is its own", JoinPath::kMissing}, t.path);
  visit(ColumnSpec{"transfer", "row of /transfers", "transfer that a Send or Recv is a side of", kNoRow}, t.transfer);
}

template <Is<StepTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"step", "1", "number of the step, may be negative", kNoPayload}, t.step);
  visit(ColumnSpec{"process", "index of /job/processes", "process that marked it", kNoIndex}, t.process);
  visit(ColumnSpec{"tid", "1", "thread id of the operating system", kNoRow}, t.tid);
  visit(ColumnSpec{"start_ns", "ns", "begin, on the run's time axis", kNoTime}, t.start_ns);
  visit(ColumnSpec{"dur_ns", "ns", "length, missing if the step never ended", kNoTime}, t.dur_ns);
  visit(ColumnSpec{"source", "word", "where its number comes from", StepSource::kMissing}, t.source);
}

template <Is<CollectiveTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"comm", "index of /comms", "communicator", kNoIndex}, t.comm);
  visit(ColumnSpec{"seq", "1", "sequence number on the communicator and function", kNoRow}, t.seq);
  visit(ColumnSpec{"coll", "word", "operation", Coll::kMissing}, t.coll);
  visit(ColumnSpec{"dtype", "word", "element type", Dtype::kMissing}, t.dtype);
  visit(ColumnSpec{"algo", "word", "algorithm", Algo::kMissing}, t.algo);
  visit(ColumnSpec{"proto", "word", "protocol", Proto::kMissing}, t.proto);
  visit(ColumnSpec{"size_bytes", "bytes", "size in nccl-tests' convention", kNoRow}, t.size_bytes);
  visit(ColumnSpec{"n_ranks", "1", "members of the communicator", kNoIndex}, t.n_ranks);
  visit(ColumnSpec{"n_seen", "1", "members with a row in this run file", kNoIndex}, t.n_seen);
  visit(ColumnSpec{"first_enqueue_ns", "ns", "first host enqueue, on the run's time axis", kNoTime},
        t.first_enqueue_ns);
  visit(ColumnSpec{"last_enqueue_ns", "ns", "last host enqueue, on the run's time axis", kNoTime}, t.last_enqueue_ns);
  visit(ColumnSpec{"last_member", "1",
                   "communicator rank with the last host enqueue; if unresolved, only what the clocks say", kNoNumber},
        t.last_member);
  visit(ColumnSpec{"first_start_ns", "ns", "first kernel start, on the run's time axis", kNoTime}, t.first_start_ns);
  visit(ColumnSpec{"last_start_ns", "ns", "last kernel start, on the run's time axis", kNoTime}, t.last_start_ns);
  visit(ColumnSpec{"first_end_ns", "ns", "first kernel end, on the run's time axis", kNoTime}, t.first_end_ns);
  visit(ColumnSpec{"last_end_ns", "ns", "last kernel end, on the run's time axis", kNoTime}, t.last_end_ns);
  visit(ColumnSpec{"flags", "bits",
                   "1 partial, 2 grouped, 4 mismatch, 8 unresolved, 16 certain; 0 for none, never missing",
                   std::uint16_t{0}},
        t.flags);
  visit(ColumnSpec{"capture", "1", "of captured calls: which of those of one function and seq, from 0", kNoRow},
        t.capture);
  visit(ColumnSpec{"replay", "1", "which replay of a CUDA graph, from 0", kNoRow}, t.replay);
  visit(ColumnSpec{"last_arrival", "1",
                   "communicator rank with the last kernel start; if unresolved, only what the clocks say", kNoNumber},
        t.last_arrival);
  visit(ColumnSpec{"clock_sigma_ns", "ns", "likely error between the two members' clocks that are the least certain",
                   kNoReal},
        t.clock_sigma_ns);
  visit(ColumnSpec{"clock_bound_ns", "ns", "error between two members' clocks at most; 0 on one node", kNoReal},
        t.clock_bound_ns);
}

template <Is<CollectiveMemberTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"event_row", "row of /events/nccl", "the member's call", kNoRow}, t.event_row);
}

template <Is<TransferTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"comm", "index of /comms", "communicator", kNoIndex}, t.comm);
  visit(ColumnSpec{"source", "1", "communicator rank that sends", kNoNumber}, t.source);
  visit(ColumnSpec{"destination", "1", "communicator rank that receives", kNoNumber}, t.destination);
  visit(ColumnSpec{"seq", "1", "which of those from source to destination, from 0; of a part, that of the whole call",
                   kNoRow},
        t.seq);
  visit(ColumnSpec{"coll", "word", "Send, or the operation of which both sides are parts", Coll::kMissing}, t.coll);
  visit(ColumnSpec{"dtype", "word", "element type", Dtype::kMissing}, t.dtype);
  visit(ColumnSpec{"size_bytes", "bytes", "how much", kNoRow}, t.size_bytes);
  visit(ColumnSpec{"send_row", "row of /events/nccl", "the Send", kNoRow}, t.send_row);
  visit(ColumnSpec{"recv_row", "row of /events/nccl", "the Recv", kNoRow}, t.recv_row);
  visit(ColumnSpec{"send_enqueue_ns", "ns", "host enqueue of the Send, on the run's time axis", kNoTime},
        t.send_enqueue_ns);
  visit(ColumnSpec{"recv_enqueue_ns", "ns", "host enqueue of the Recv, on the run's time axis", kNoTime},
        t.recv_enqueue_ns);
  visit(ColumnSpec{"send_start_ns", "ns", "start of the Send's kernel, on the run's time axis", kNoTime},
        t.send_start_ns);
  visit(ColumnSpec{"recv_start_ns", "ns", "start of the Recv's kernel, on the run's time axis", kNoTime},
        t.recv_start_ns);
  visit(ColumnSpec{"end_ns", "ns", "end of the kernel that ended last, on the run's time axis", kNoTime}, t.end_ns);
  visit(ColumnSpec{"flags", "bits",
                   "1 partial, 2 grouped, 4 mismatch, 8 unresolved, 16 certain; 0 for none, never missing",
                   std::uint16_t{0}},
        t.flags);
  visit(ColumnSpec{"capture", "1", "of captured calls: which of those of one seq, from 0", kNoRow}, t.capture);
  visit(ColumnSpec{"replay", "1", "which replay of a CUDA graph, from 0", kNoRow}, t.replay);
  visit(ColumnSpec{"clock_sigma_ns", "ns", "likely error between the two sides' clocks", kNoReal}, t.clock_sigma_ns);
  visit(ColumnSpec{"clock_bound_ns", "ns", "error between the two sides' clocks at most; 0 on one node", kNoReal},
        t.clock_bound_ns);
}

template <Is<DiagnosticTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"severity", "word", "info, warning or error", Severity::kMissing}, t.severity);
  visit(ColumnSpec{"rank", "1", "rank it is about", kNoNumber}, t.rank);
  visit(ColumnSpec{"process", "index of /job/processes", "process it is about", kNoIndex}, t.process);
  visit(ColumnSpec{"node", "index of /job/nodes", "node it is about", kNoIndex}, t.node);
  visit(ColumnSpec{"code", "index of /strings/value", "stable short word, such as drop.ring", kNoText}, t.code);
  visit(ColumnSpec{"count", "1", "how often, or how many events", kNoRow}, t.count);
  visit(ColumnSpec{"text", "index of /strings/value", "the cause in words", kNoText}, t.text);
}

constexpr TableSpec spec_of(const TaskTable&) {
  return {"/job/tasks", true, "task", "n_rows", "tasks of the job step"};
}
constexpr TableSpec spec_of(const ProcessTable&) {
  return {"/job/processes", true, "process", "n_rows", "processes with a spool"};
}
constexpr TableSpec spec_of(const DeviceTable&) {
  return {"/job/devices", true, "device", "n_rows", "GPUs"};
}
constexpr TableSpec spec_of(const NodeTable&) {
  return {"/job/nodes", true, "node", "n_rows", "nodes: boots of an operating system"};
}
constexpr TableSpec spec_of(const NicTable&) {
  return {"/job/nics", true, "nic", "n_rows", "network ports"};
}
constexpr TableSpec spec_of(const ObserverTable&) {
  return {"/job/observers", true, "node, start_ns", "n_rows", "observers of nodes"};
}
constexpr TableSpec spec_of(const EnvTable&) {
  return {"/job/env", true, "name, n_tasks (most first)", "n_rows", "environment of the tasks' commands"};
}
constexpr TableSpec spec_of(const EnvTaskTable&) {
  return {"/job/env_tasks", false, "row of /job/env, task", "n_rows", "tasks with a variable and value"};
}
constexpr TableSpec spec_of(const CommTable&) {
  return {"/comms", false, "comm", "n_rows", "communicators"};
}
constexpr TableSpec spec_of(const CommMemberTable&) {
  return {"/comms", false, "comm, member_comm_rank", "n_members", "members of communicators"};
}
constexpr TableSpec spec_of(const NvtxTable&) {
  return {"/events/nvtx", false, "process, start_ns", "n_rows", "NVTX ranges and marks"};
}
constexpr TableSpec spec_of(const NcclTable&) {
  return {"/events/nccl", false, "process, start_ns", "n_rows", "NCCL calls"};
}
constexpr TableSpec spec_of(const StepTable&) {
  return {"/steps", false, "process, start_ns", "n_rows", "steps that the program marked"};
}
constexpr TableSpec spec_of(const CollectiveTable&) {
  return {"/collectives", false, "comm, seq, coll, capture, replay", "n_rows", "matched instances"};
}
constexpr TableSpec spec_of(const CollectiveMemberTable&) {
  return {"/collectives", false, "comm, seq, coll, capture, replay, comm_rank", "n_members",
          "members of matched instances"};
}
constexpr TableSpec spec_of(const TransferTable&) {
  return {"/transfers", false, "comm, source, destination, seq, coll, capture, replay", "n_rows",
          "sends with their receives"};
}
constexpr TableSpec spec_of(const DiagnosticTable&) {
  return {"/diagnostics", true, "none", "n_rows", "losses, gaps and doubts"};
}

// Calls visit(Table&) for every table, in the order of the file.
template <Is<RunTables> Run>
void for_each_table(Run& run, auto&& visit) {
  visit(run.tasks);
  visit(run.processes);
  visit(run.devices);
  visit(run.nodes);
  visit(run.nics);
  visit(run.observers);
  visit(run.env);
  visit(run.env_tasks);
  visit(run.comms);
  visit(run.comm_members);
  visit(run.nvtx);
  visit(run.nccl);
  visit(run.kernels);
  visit(run.memops);
  visit(run.api);
  visit(run.overhead);
  visit(run.graphs);
  visit(run.syncs);
  visit(run.cuda_events);
  visit(run.launch_configs);
  visit(run.nccl_work);
  visit(run.segments);
  visit(run.steps);
  visit(run.collectives);
  visit(run.collective_members);
  visit(run.transfers);
  visit(run.diagnostics);
  visit(run.clock_nodes);
  visit(run.clock_links);
  visit(run.clock_bursts);
  visit(run.clock_anchors);
  visit(run.clock_discipline);
  visit(run.clock_steps);
  visit(run.clock_model);
  visit(run.clock_audit);
}

// The tables of events alone, in the same order.
template <Is<EventTables> Events>
void for_each_event_table(Events& events, auto&& visit) {
  visit(events.nvtx);
  visit(events.nccl);
  visit(events.kernels);
  visit(events.memops);
  visit(events.api);
  visit(events.overhead);
  visit(events.graphs);
  visit(events.syncs);
  visit(events.cuda_events);
  visit(events.nccl_work);
  visit(events.steps);
  visit(events.collectives);
  visit(events.collective_members);
  visit(events.transfers);
}

// Calls visit(OffsetSpec, std::vector<std::uint64_t>& offset, n_parts, n_rows): what the offsets must agree with.
template <Is<RunTables> Run>
void for_each_offset(Run& run, auto&& visit) {
  visit(OffsetSpec{"/job/env_tasks/env_offset", "row of /job/env_tasks", "first task of each row of /job/env"},
        run.env_task_offset, run.env.name.size(), run.env_tasks.task.size());
  visit(OffsetSpec{"/comms/member_offset", "position in the member columns", "first member of each communicator"},
        run.comm_member_offset, run.comms.comm.size(), run.comm_members.member_process.size());
  visit(OffsetSpec{"/events/nvtx/process_offset", "row of /events/nvtx", "first row of each process"},
        run.nvtx_process_offset, run.processes.process.size(), run.nvtx.start_ns.size());
  visit(OffsetSpec{"/events/nccl/process_offset", "row of /events/nccl", "first row of each process"},
        run.nccl_process_offset, run.processes.process.size(), run.nccl.start_ns.size());
  const auto of_process = [&](const char* path, const char* unit, auto& offset, const auto& table) {
    visit(OffsetSpec{path, unit, "first row of each process"}, offset, run.processes.process.size(),
          table.start_ns.size());
  };
  of_process("/events/kernels/process_offset", "row of /events/kernels", run.kernel_process_offset, run.kernels);
  of_process("/events/memops/process_offset", "row of /events/memops", run.memop_process_offset, run.memops);
  of_process("/events/api/process_offset", "row of /events/api", run.api_process_offset, run.api);
  of_process("/events/overhead/process_offset", "row of /events/overhead", run.overhead_process_offset, run.overhead);
  of_process("/events/graphs/process_offset", "row of /events/graphs", run.graph_process_offset, run.graphs);
  of_process("/events/syncs/process_offset", "row of /events/syncs", run.sync_process_offset, run.syncs);
  of_process("/events/cuda_events/process_offset", "row of /events/cuda_events", run.cuda_event_process_offset,
             run.cuda_events);
  visit(OffsetSpec{"/steps/process_offset", "row of /steps", "first row of each process"}, run.step_process_offset,
        run.processes.process.size(), run.steps.start_ns.size());
  visit(OffsetSpec{"/collectives/member_offset", "position in event_row", "first member of each instance"},
        run.collective_member_offset, run.collectives.comm.size(), run.collective_members.event_row.size());
  visit(OffsetSpec{"/clock/model/node_offset", "row of /clock/model", "first knot of each node"},
        run.clock_model_offset, run.nodes.node.size(), run.clock_model.raw_ns.size());
}

// Calls visit(AttributeSpec, field&) for every attribute of the root group that a run brings along. The writer adds
// schema, schema_version, tool_version, time_unit and, last of all, complete.
template <Is<RunAttributes> Attributes>
void for_each_attribute(Attributes& a, auto&& visit) {
  visit(AttributeSpec{"created_unix_ns", "ns", "last stamp of the run, since 1970 UTC"}, a.created_unix_ns);
  visit(AttributeSpec{"epoch_unix_ns", "ns", "zero of the run's time axis, since 1970 UTC"}, a.epoch_unix_ns);
  visit(AttributeSpec{"run_id", "text", "job.step.restart, or the launcher's id"}, a.run_id);
  visit(AttributeSpec{"job_id", "text", "job id of the batch system"}, a.job_id);
  visit(AttributeSpec{"step_id", "text", "job step"}, a.step_id);
  visit(AttributeSpec{"restart", "1", "restart count of the job"}, a.restart);
  visit(AttributeSpec{"launcher", "text", "what started the ranks, or the wrappers where ranks differ"}, a.launcher);
  visit(AttributeSpec{"world_size", "1", "ranks of the job, 0 if unknown"}, a.world_size);
  visit(AttributeSpec{"n_nodes", "1", "nodes of the job"}, a.n_nodes);
  visit(AttributeSpec{"n_processes", "1", "processes with a spool"}, a.n_processes);
  visit(AttributeSpec{"n_dropped", "1", "events lost, all processes and causes together"}, a.n_dropped);
  visit(AttributeSpec{"redacted", "flag", "1 if names or environment were removed"}, a.redacted);
  visit(AttributeSpec{"cmdline", "text", "command of the job"}, a.cmdline);
  visit(AttributeSpec{"clock_method", "text", "how the nodes' clocks were aligned"}, a.clock_method);
  visit(AttributeSpec{"clock_bound_ns", "ns", "bound of the error between nodes, NaN if unknown"}, a.clock_bound_ns);
  visit(AttributeSpec{"clock_sigma_ns", "ns", "likely error between nodes, NaN if unknown"}, a.clock_sigma_ns);
  visit(AttributeSpec{"selection", "text", "which ranks were traced"}, a.selection);
  visit(AttributeSpec{"output_template", "text", "the -o template"}, a.output_template);
  visit(AttributeSpec{"step_marker", "text",
                      "what marks a step, as --step-marker takes it; those of different tasks joined by a bar"},
        a.step_marker);
  visit(
      AttributeSpec{
          "window", "text",
          "when events were kept, as jaxprof-exec takes it; those of different tasks joined by a bar; empty: always"},
      a.window);
  visit(AttributeSpec{"trace", "text",
                      "what was recorded, as -t takes it; those of different tasks joined by a bar; empty: not told"},
        a.trace);
}

}  // namespace jaxprof::runfile
