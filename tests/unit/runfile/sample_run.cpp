// Values are chosen so that a swapped column or row shows: no two columns of a row are equal.
#include "tests/unit/runfile/sample_run.h"

#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile::test {
namespace {

void add_task(RunTables& run, std::int32_t rank, std::uint32_t node, TaskState state, std::string_view reason) {
  TaskTable& t = run.tasks;
  const std::size_t i = add_row(t);
  t.task[i] = static_cast<std::uint32_t>(i);
  t.rank[i] = rank;
  t.node[i] = node;
  t.state[i] = state;
  t.reason[i] = run.strings.intern(reason);
  t.host[i] = run.nodes.host[node];
  t.pid[i] = 4000 + rank;
  t.exit_code[i] = 0;
  t.restart[i] = 0;
}

void add_process(RunTables& run, std::int32_t rank, std::uint32_t node, std::uint64_t n_dropped) {
  ProcessTable& p = run.processes;
  const std::size_t i = add_row(p);
  p.process[i] = static_cast<std::uint32_t>(i);
  p.task[i] = static_cast<std::uint32_t>(rank);
  p.rank[i] = rank;
  p.rank_source[i] = run.strings.intern("SLURM_PROCID");
  p.world_size[i] = 4;
  p.local_rank[i] = rank % 2;
  p.pid[i] = 5000 + rank;
  p.start_ns[i] = 1000 + rank;
  p.end_ns[i] = 9'000'000 + rank;
  p.node[i] = node;
  p.is_complete[i] = 1;
  p.n_events[i] = 3;
  p.n_dropped[i] = n_dropped;
  p.nccl_version[i] = 22803;
  p.plugin_version[i] = 5;
  p.spool[i] = run.strings.intern("rank" + std::to_string(rank) + ".jxp");
}

void add_nccl(RunTables& run, std::int32_t comm_rank, std::uint64_t seq, std::int64_t start_ns, std::int64_t dur_ns,
              std::uint64_t instance) {
  NcclTable& t = run.nccl;
  const std::size_t i = add_row(t);
  t.start_ns[i] = t.enqueue_ns[i] = start_ns;
  t.end_api_ns[i] = start_ns + dur_ns;
  t.comm[i] = 0;
  t.comm_rank[i] = comm_rank;
  t.seq[i] = seq;
  t.coll[i] = Coll::kAllReduce;
  t.api[i] = run.strings.intern("ncclAllReduce");
  t.dtype[i] = Dtype::kF32;
  t.redop[i] = Redop::kSum;
  t.algo[i] = Algo::kRing;
  t.proto[i] = Proto::kSimple;
  t.count[i] = 256;
  t.bytes[i] = t.size_bytes[i] = 1024;
  t.src[i] = NcclSource::kNcclPluginAndNvtx;
  t.instance[i] = instance;
}

void add_instance(RunTables& run, std::uint64_t seq, std::vector<std::uint64_t> rows) {
  CollectiveTable& c = run.collectives;
  const std::size_t i = add_row(c);
  c.comm[i] = 0;
  c.seq[i] = seq;
  c.coll[i] = Coll::kAllReduce;
  c.size_bytes[i] = 1024;
  c.n_ranks[i] = 3;
  c.n_seen[i] = static_cast<std::uint32_t>(rows.size());
  c.flags[i] = rows.size() < 3 ? kInstancePartial : std::uint16_t{0};
  for (const std::uint64_t row : rows) run.collective_members.event_row.push_back(row);
  run.collective_member_offset.push_back(run.collective_members.event_row.size());
}

// Sends of the first rank to the two others; nothing is known of how the second one was received. The calls themselves
// are not among the sample's.
void add_transfers(RunTables& run) {
  TransferTable& t = run.transfers;
  for (std::int32_t destination = 1; destination < 3; ++destination) {
    const std::size_t i = add_row(t);
    t.comm[i] = 0;
    t.source[i] = 0;
    t.destination[i] = destination;
    t.seq[i] = 7;
    t.coll[i] = destination == 1 ? Coll::kSend : Coll::kScatter;
    t.dtype[i] = Dtype::kBf16;
    t.size_bytes[i] = 2048;
    t.send_enqueue_ns[i] = 1'500'000 + destination;
    t.send_start_ns[i] = 1'510'000;
  }
  t.recv_enqueue_ns[0] = 1'500'400;
  t.recv_start_ns[0] = 1'510'200;
  t.end_ns[0] = 1'540'000;
  t.flags = {kInstanceGrouped, kInstancePartial};
  t.clock_sigma_ns[0] = 0;
  t.clock_bound_ns[0] = 0;
}

void add_range(RunTables& run, std::int64_t start_ns, std::string_view name, std::int64_t payload) {
  NvtxTable& t = run.nvtx;
  const std::size_t i = add_row(t);
  t.start_ns[i] = start_ns;
  t.name[i] = run.strings.intern(name);
  t.tid[i] = 77;
  t.depth[i] = 0;
  t.payload[i] = payload;
  t.kind[i] = NvtxKind::kPushPop;
}

void add_step(RunTables& run, std::uint32_t process, std::int64_t number, std::int64_t start_ns, std::int64_t dur_ns,
              StepSource source) {
  StepTable& t = run.steps;
  const std::size_t i = add_row(t);
  t.step[i] = number;
  t.process[i] = process;
  t.tid[i] = 77 + process;
  t.start_ns[i] = start_ns;
  t.dur_ns[i] = dur_ns;
  t.source[i] = source;
}

// What the GPU of process 0 did, and its window: the first call's kernel and a copy that belongs to nothing.
void add_gpu(RunTables& run) {
  const std::size_t device = add_row(run.devices);
  run.devices.device[device] = 0;
  run.devices.node[device] = 0;
  run.devices.process[device] = 0;
  run.devices.ordinal[device] = 1;
  run.devices.uuid[device] = "GPU-00112233-4455-6677-8899-aabbccddeeff";
  run.devices.name[device] = run.strings.intern("puppet GPU");
  run.devices.capability[device] = 90;
  run.processes.gpu_mode[0] = GpuMode::kAlone;
  run.processes.cupti_version[0] = 130001;
  run.processes.gpu_clock_residual_ns[0] = 12.5;

  const std::size_t config = add_row(run.launch_configs);
  std::uint32_t value = 100;
  for_each_column(run.launch_configs, [&](const auto&, auto& column) { column[config] = value++; });
  const std::size_t api = add_row(run.api);
  run.api.start_ns[api] = 1'000'100;
  run.api.dur_ns[api] = 4'000;
  run.api.name[api] = run.strings.intern("cuLaunchKernelEx");
  run.api.layer[api] = ApiLayer::kDriver;
  run.api.tid[api] = 77;
  run.api.correlation[api] = 5;
  run.api.result[api] = 0;
  const std::size_t kernel = add_row(run.kernels);
  run.kernels.start_ns[kernel] = 1'005'000;
  run.kernels.dur_ns[kernel] = 30'000;
  run.kernels.name[kernel] = run.strings.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  run.kernels.device[kernel] = 0;
  run.kernels.context[kernel] = 1;
  run.kernels.stream[kernel] = 13;
  run.kernels.correlation[kernel] = 5;
  run.kernels.api[kernel] = api;
  run.kernels.launch_config[kernel] = static_cast<std::uint32_t>(config);
  const std::size_t memop = add_row(run.memops);
  run.memops.start_ns[memop] = 1'002'000;
  run.memops.dur_ns[memop] = 500;
  run.memops.kind[memop] = MemopKind::kHtoD;
  run.memops.bytes[memop] = 4096;
  run.memops.src[memop] = MemoryKind::kPinned;
  run.memops.dst[memop] = MemoryKind::kDevice;
  run.memops.device[memop] = 0;
  const std::size_t work = add_row(run.nccl_work);
  run.nccl_work.call[work] = 0;
  run.nccl_work.kernel[work] = kernel;
  run.nccl_work.path[work] = JoinPath::kExternal;
  run.nccl.gpu_start_ns[0] = 1'005'000;
  run.nccl.gpu_dur_ns[0] = 30'000;
  run.nccl.timing[0] = Timing::kCupti;
  run.nccl.path[0] = JoinPath::kExternal;
  const std::size_t segment = add_row(run.segments);
  run.segments.process[segment] = 0;
  run.segments.segment[segment] = 0;
  run.segments.open_ns[segment] = 900'000;
  run.segments.open_cause[segment] = WindowCause::kStep;
  run.segments.open_step[segment] = -1;
  run.kernel_process_offset = {0, 1, 1, 1};
  run.memop_process_offset = {0, 1, 1, 1};
  run.api_process_offset = {0, 1, 1, 1};
  fill_empty_offsets(run);
}

// What the observer of the first node read of one EFA port and of the GPU; a second port could not be read.
void add_counters(RunTables& run) {
  const std::size_t observer = add_row(run.observers);
  run.observers.observer[observer] = 0;
  run.observers.node[observer] = 0;
  run.observers.segment[observer] = 0;
  run.observers.start_ns[observer] = 500;
  run.observers.end_ns[observer] = 9'500'000;
  run.observers.is_complete[observer] = 1;
  run.observers.is_shared[observer] = 0;
  run.observers.ticks[observer] = 95;
  run.observers.missed_ticks[observer] = 2;
  run.observers.lateness_max_ns[observer] = 40'000;
  run.observers.spool[observer] = run.strings.intern("node.n1.8d5b6f5e.0.jxspool");
  for (const char* name : {"rdmap0s6", "rdmap0s7"}) {
    const std::size_t nic = add_row(run.nics);
    run.nics.nic[nic] = static_cast<std::uint32_t>(nic);
    run.nics.node[nic] = 0;
    run.nics.name[nic] = name;
    run.nics.full_name[nic] = run.strings.intern(name);
    run.nics.port[nic] = 1;
    run.nics.driver[nic] = run.strings.intern("efa");
    run.nics.pci[nic] = "0000:00:0" + std::to_string(6 + nic) + ".0";
    run.nics.source[nic] = nic == 0 ? NicSource::kNetlink : NicSource::kNone;
    run.nics.period_ns[nic] = nic == 0 ? 100'000'000 : 0;
  }
  run.nics.rate_gbps[0] = 100;
  run.nics.reason[1] = run.strings.intern("no counter answered");
  CounterTable nic;
  nic.driver = "efa";
  nic.time_ns = {600, 3'000'600, 6'000'600};
  nic.read_ns = {20'000, 21'000, 22'000};
  nic.flags = {0, 0, kRowLast};
  nic.offset = {0, 3, 3};
  nic.columns = {{"rx_drops", 1, CounterUnit::kPackets, CounterKind::kCounter, 64, true, {0, kNoSample, 4}},
                 {"tx_bytes", 1, CounterUnit::kBytes, CounterKind::kCounter, 64, false, {1000, 2000, 5000}}};
  run.counters.push_back(std::move(nic));
  CounterTable gpu;
  gpu.subject = CounterSubject::kGpu;
  gpu.time_ns = {700};
  gpu.read_ns = {1'000'000};
  gpu.flags = {kRowReset};
  gpu.offset = {0, 1};
  gpu.columns = {{"sm_clock", 1, CounterUnit::kMegahertz, CounterKind::kGauge, 64, false, {1980}}};
  run.counters.push_back(std::move(gpu));
}

// The second node was compared with the first; both have a model.
void add_clocks(RunTables& run) {
  for (std::uint32_t node = 0; node < 2; ++node) {
    const std::size_t row = add_row(run.clock_nodes);
    run.clock_nodes.node[row] = node;
    run.clock_nodes.method[row] = node == 0 ? ClockMethod::kReference : ClockMethod::kUdpKernelStamps;
    run.clock_nodes.wall_offset_ns[row] = node == 0 ? 0 : 3'200'000;
    run.clock_nodes.sigma_ns[row] = node == 0 ? 0 : 300;
    run.clock_nodes.bound_ns[row] = node == 0 ? 0 : 4'200;
    run.clock_nodes.address[row] = run.strings.intern("10.0.0.1");
    for (std::int64_t knot = 0; knot < 2; ++knot) {
      const std::size_t at = add_row(run.clock_model);
      run.clock_model.raw_ns[at] = 5'000'000 * (node + 1) + 10'000'000 * knot;
      run.clock_model.time_ns[at] = 10'000'000 * knot;
      run.clock_model.hard_lo_ns[at] = node == 0 ? 0 : -4'200;
      run.clock_model.hard_hi_ns[at] = node == 0 ? 0 : 4'000;
    }
  }
  run.clock_model_offset = {0, 2, 4};
  const std::size_t link = add_row(run.clock_links);
  run.clock_links.a[link] = 0;
  run.clock_links.b[link] = 1;
  run.clock_links.method[link] = ClockMethod::kUdpKernelStamps;
  run.clock_links.is_flagged[link] = 0;
  const std::size_t burst = add_row(run.clock_bursts);
  run.clock_bursts.link[burst] = 0;
  run.clock_bursts.lo_ns[burst] = 4'996'000;
  run.clock_bursts.hi_ns[burst] = 5'004'000;
  const std::size_t anchor = add_row(run.clock_anchors);
  run.clock_anchors.node[anchor] = 0;
  run.clock_anchors.raw_ns[anchor] = 5'000'000;
  const std::size_t discipline = add_row(run.clock_discipline);
  run.clock_discipline.node[discipline] = 1;
  run.clock_discipline.status[discipline] = 64;
  const std::size_t step = add_row(run.clock_steps);
  run.clock_steps.node[step] = 1;
  run.clock_steps.time_ns[step] = 7'000'000;
  run.clock_steps.size_ns[step] = -500'000;
  run.clock_steps.kind[step] = ClockStepKind::kWallClockSet;
  const std::size_t audit = add_row(run.clock_audit);
  run.clock_audit.reference[audit] = 0;
  run.clock_audit.n_violations[audit] = 0;
}

// NCCL_ALGO is set on rank 2 alone; NCCL_DEBUG is alike, and empty.
void add_env(RunTables& run) {
  const auto add = [&run](const char* name, const char* value, bool is_set, std::vector<std::uint32_t> tasks,
                          const char* ranks, EnvScope scope) {
    const std::size_t row = add_row(run.env);
    run.env.name[row] = run.strings.intern(name);
    run.env.value[row] = run.strings.intern(value);
    run.env.is_set[row] = is_set ? 1 : 0;
    run.env.n_tasks[row] = static_cast<std::uint32_t>(tasks.size());
    run.env.ranks[row] = run.strings.intern(ranks);
    run.env.scope[row] = scope;
    run.env.is_per_task[row] = 0;
    run.env_tasks.task.insert(run.env_tasks.task.end(), tasks.begin(), tasks.end());
    run.env_task_offset.push_back(run.env_tasks.task.size());
  };
  add("NCCL_ALGO", "", false, {0, 1, 3}, "ranks 0-1,3", EnvScope::kTask);
  add("NCCL_ALGO", "Tree", true, {2}, "rank 2", EnvScope::kTask);
  add("NCCL_DEBUG", "", true, {0, 1, 2, 3}, "ranks 0-3", EnvScope::kAlike);
}

}  // namespace

RunTables sample_run() {
  RunTables run;
  run.attributes.created_unix_ns = 1'700'000'100'000'000'000;
  run.attributes.epoch_unix_ns = 1'700'000'000'000'000'000;
  run.attributes.run_id = "81723.0.0";
  run.attributes.job_id = "81723";
  run.attributes.step_id = "0";
  run.attributes.launcher = "slurm";
  run.attributes.world_size = 4;
  run.attributes.n_nodes = 2;
  run.attributes.n_processes = 3;
  run.attributes.n_dropped = 12;
  run.attributes.step_marker = "step@puppet";
  run.attributes.cmdline = "python train.py --name \"ä\"";
  for (const char* host : {"n1", "n2"}) {
    const std::size_t i = add_row(run.nodes);
    run.nodes.node[i] = static_cast<std::uint32_t>(i);
    run.nodes.host[i] = run.strings.intern(host);
    run.nodes.boot_id[i] = "8d5b6f5e-0000-4000-8000-00000000000" + std::to_string(i);
    run.nodes.n_processes[i] = i == 0 ? 2 : 1;
    run.nodes.n_tasks[i] = 2;
  }
  for (int rank = 0; rank < 3; ++rank) add_task(run, rank, rank < 2 ? 0 : 1, TaskState::kProfiled, "");
  add_task(run, 3, 1, TaskState::kUnprofiled, "NVTX_INJECTION64_PATH is set to another tool");
  for (int rank = 0; rank < 3; ++rank) add_process(run, rank, rank < 2 ? 0 : 1, rank == 1 ? 12 : 0);

  const std::size_t comm = add_row(run.comms);
  run.comms.comm[comm] = 0;
  run.comms.hash[comm] = 0xFEEDFACECAFEBEEF;
  run.comms.n_ranks[comm] = 3;
  run.comms.n_nodes[comm] = 2;
  resize_rows(run.comm_members, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    run.comm_members.member_process[i] = static_cast<std::uint32_t>(i);
    run.comm_members.member_comm_rank[i] = static_cast<std::int32_t>(i);
  }
  run.comm_member_offset = {0, 3};

  // rows 0, 1: process 0; 2, 3: process 1; 4: process 2, which lacks the second call
  add_nccl(run, 0, 0, 1'000'000, 10'000, 0);
  add_nccl(run, 0, 1, 2'000'000, 20'000, 1);
  add_nccl(run, 1, 0, 1'000'500, 30'000, 0);
  add_nccl(run, 1, 1, 2'000'500, 40'000, 1);
  add_nccl(run, 2, 0, 1'001'000, 50'000, 0);
  run.nccl_process_offset = {0, 2, 4, 5};
  add_instance(run, 0, {0, 2, 4});
  add_instance(run, 1, {1, 3});
  add_transfers(run);

  add_range(run, 900'000, "step \"1\", α|β", 1);
  add_range(run, 1'900'000, "step 2", kNoPayload);
  run.nvtx_process_offset = {0, 1, 2, 2};

  add_step(run, 0, -1, 900'000, 70'000, StepSource::kPayload);
  add_step(run, 0, 0, 990'000, 60'000, StepSource::kPayload);
  add_step(run, 1, 0, 1'900'000, kNoTime, StepSource::kOrdinal);
  run.step_process_offset = {0, 2, 3, 3};

  add_gpu(run);
  add_counters(run);
  add_clocks(run);
  add_env(run);

  const std::size_t loss = add_row(run.diagnostics);
  run.diagnostics.severity[loss] = Severity::kWarning;
  run.diagnostics.rank[loss] = 1;
  run.diagnostics.process[loss] = 1;
  run.diagnostics.node[loss] = 0;
  run.diagnostics.code[loss] = run.strings.intern("drop.ring");
  run.diagnostics.count[loss] = 12;
  run.diagnostics.text[loss] = run.strings.intern("ring of thread 77 was full");
  return run;
}

RunTables long_run(std::size_t n_rows) {
  RunTables run;
  add_row(run.nodes);
  run.nodes.node[0] = 0;
  run.nodes.host[0] = run.strings.intern("n1");
  add_process(run, 0, 0, 0);
  resize_rows(run.nvtx, n_rows);
  for (std::size_t i = 0; i < n_rows; ++i) {
    run.nvtx.start_ns[i] = static_cast<std::int64_t>(i * 1009);
    run.nvtx.dur_ns[i] = static_cast<std::int64_t>(i * 7919 % 100'003);
    run.nvtx.depth[i] = static_cast<std::uint16_t>(i % 7);
    run.nvtx.kind[i] = static_cast<NvtxKind>(i % 3);
    run.nvtx.payload_f64[i] = static_cast<double>(i) / 3;
  }
  run.nvtx_process_offset = {0, n_rows};
  run.nccl_process_offset = {0, 0};
  run.step_process_offset = {0, 0};
  fill_empty_offsets(run);
  return run;
}

}  // namespace jaxprof::runfile::test
