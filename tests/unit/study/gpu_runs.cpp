// Rows in the order of the file: by process, then by start.
#include "tests/unit/study/gpu_runs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::study::test {
namespace {

using namespace jaxprof::runfile;

void add_job(RunTables& run, const GpuPlan& plan) {
  const std::uint32_t of_node = plan.processes_of_node == 0 ? plan.processes : plan.processes_of_node;
  add_row(run.comms);
  run.comms.comm[0] = 0;
  run.comms.n_ranks[0] = plan.processes;
  for (std::uint32_t process = 0; process < plan.processes; ++process) {
    const std::uint32_t node = process / of_node;
    if (node == n_rows(run.nodes)) {
      add_row(run.nodes);
      run.nodes.node[node] = node;
      run.nodes.host[node] = run.strings.intern("n" + std::to_string(node));
    }
    add_row(run.processes);
    run.processes.process[process] = process;
    run.processes.rank[process] = static_cast<std::int32_t>(process);
    run.processes.node[process] = node;
    run.processes.start_ns[process] = 0;
    run.processes.end_ns[process] = plan.end_ns;
    run.processes.gpu_mode[process] = GpuMode::kAlone;
    for (std::uint32_t gpu = 0; gpu < plan.gpus; ++gpu) {
      const std::size_t device = add_row(run.devices);
      run.devices.device[device] = static_cast<std::uint32_t>(device);
      run.devices.process[device] = process;
      run.devices.node[device] = node;
      run.devices.ordinal[device] = static_cast<std::int32_t>(gpu);
    }
    const std::size_t member = add_row(run.comm_members);
    run.comm_members.member_process[member] = process;
    run.comm_members.member_comm_rank[member] = static_cast<std::int32_t>(process);
  }
  run.comms.n_nodes[0] = static_cast<std::uint32_t>(n_rows(run.nodes));
  run.comm_member_offset = {0, plan.processes};
}

// The calls that launched work, by process and begin; the row of each.
std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t> add_launches(RunTables& run, const GpuPlan& plan,
                                                                             const std::vector<Work>& work) {
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t> rows;
  for (const Work& one : work) {
    if (one.launch_ns >= 0) rows[{one.process, one.launch_ns}] = 0;
  }
  for (std::uint32_t process = 0; process < plan.processes; ++process) {
    for (auto& [key, row] : rows) {
      if (key.first != process) continue;
      row = add_row(run.api);
      run.api.start_ns[row] = key.second;
      run.api.dur_ns[row] = 1;
      run.api.name[row] = run.strings.intern("cudaLaunchKernel");
      run.api.layer[row] = ApiLayer::kRuntime;
      run.api.tid[row] = 100 + process;
    }
    run.api_process_offset.push_back(n_rows(run.api));
  }
  return rows;
}

template <typename Table>
std::size_t add_work(Table& t, const Work& work, std::int32_t device, std::uint64_t api) {
  const std::size_t row = add_row(t);
  t.start_ns[row] = work.start_ns;
  t.dur_ns[row] = work.dur_ns;
  t.device[row] = device;
  t.stream[row] = 7;
  t.api[row] = api;
  t.graph[row] = work.graph;
  t.flags[row] = work.flags;
  return row;
}

void add_call(RunTables& run, const Work& work, std::int32_t device, std::size_t row) {
  const std::size_t call = add_row(run.nccl);
  NcclTable& t = run.nccl;
  t.start_ns[call] = std::max<std::int64_t>(0, work.start_ns - 5);
  t.end_api_ns[call] = t.start_ns[call] + 3;
  t.gpu_start_ns[call] = work.start_ns;
  t.gpu_dur_ns[call] = work.dur_ns;
  t.comm[call] = 0;
  t.comm_rank[call] = static_cast<std::int32_t>(work.process);
  t.device[call] = device;
  t.coll[call] = Coll::kAllReduce;
  t.dtype[call] = Dtype::kF32;
  t.size_bytes[call] = 1024;
  t.timing[call] = Timing::kCupti;
  t.path[call] = JoinPath::kExternal;
  const std::size_t pair = add_row(run.nccl_work);
  run.nccl_work.call[pair] = call;
  (work.copy ? run.nccl_work.memop : run.nccl_work.kernel)[pair] = row;
  run.nccl_work.path[pair] = JoinPath::kExternal;
}

}  // namespace

RunTables run_of_work(const GpuPlan& plan, std::vector<Work> work) {
  RunTables run;
  add_job(run, plan);
  std::stable_sort(work.begin(), work.end(), [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; });
  const auto launches = add_launches(run, plan, work);
  for (std::uint32_t process = 0; process < plan.processes; ++process) {
    for (const Work& one : work) {
      if (one.process != process) continue;
      const auto device = static_cast<std::int32_t>(process * plan.gpus) + one.gpu;
      const std::uint64_t api = one.launch_ns < 0 ? kNoRow : launches.at({process, one.launch_ns});
      std::size_t row = 0;
      if (one.copy) {
        row = add_work(run.memops, one, device, api);
        run.memops.kind[row] = *one.copy;
        run.memops.bytes[row] = one.bytes;
      } else {
        row = add_work(run.kernels, one, device, api);
        run.kernels.name[row] = run.strings.intern(one.kernel);
      }
      if (one.is_nccl) add_call(run, one, device, row);
    }
    run.kernel_process_offset.push_back(n_rows(run.kernels));
    run.memop_process_offset.push_back(n_rows(run.memops));
    run.nccl_process_offset.push_back(n_rows(run.nccl));
  }
  fill_empty_offsets(run);
  return run;
}

void set_ranges(RunTables& run, const std::vector<Range>& ranges) {
  NvtxTable& t = run.nvtx;
  std::vector<std::uint64_t> n(run.processes.process.size() + 1, 0);
  for (const Range& range : ranges) {
    const std::size_t row = add_row(t);
    t.start_ns[row] = range.start_ns;
    t.dur_ns[row] = range.dur_ns;
    t.name[row] = run.strings.intern(range.name);
    t.domain[row] = run.strings.intern(range.domain);
    t.tid[row] = 100 + range.process;
    t.depth[row] = range.parent < 0 ? 0 : 1;
    if (range.parent >= 0) t.parent[row] = static_cast<std::uint64_t>(range.parent);
    t.kind[row] = range.kind;
    t.gpu_dur_ns[row] = range.gpu_dur_ns;
    if (range.gpu_dur_ns >= 0) t.gpu_start_ns[row] = range.start_ns;
    t.gpu_ops[row] = range.gpu_ops;
    ++n[range.process + 1];
  }
  for (std::size_t i = 1; i < n.size(); ++i) n[i] += n[i - 1];
  run.nvtx_process_offset = std::move(n);
}

Table answer(const Study& study, const RunTables& run, const StudyOptions& options) {
  static int number = 0;
  const auto path = std::filesystem::temp_directory_path() /
                    ("study_test." + std::to_string(::getpid()) + "." + std::to_string(number++) + ".h5");
  const auto table = write_run_file(run, path.string(), {.compression = Compression::kNone})
                         .and_then([&](const WrittenFile&) { return RunFileReader::open(path.string()); })
                         .and_then([&](const RunFileReader& reader) {
                           return reader.read(study.is_wanted).and_then([&](const RunTables& read) {
                             return study.stream({read, reader}, options);
                           });
                         });
  std::filesystem::remove(path);
  if (table) return *table;
  std::fprintf(stderr, "%s\n", table.error().message.c_str());
  std::abort();
}

}  // namespace jaxprof::study::test
