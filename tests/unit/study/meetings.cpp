#include "tests/unit/study/meetings.h"

#include <algorithm>
#include <string>

#include "merge/runfile/table_rows.h"

namespace jaxprof::study::test {
namespace {

using namespace jaxprof::runfile;

struct Side {
  std::uint32_t process = 0;
  std::size_t meeting = 0;
  std::size_t member = 0;
  std::int64_t host_ns = 0;
};

void add_job(RunTables& run, const MeetingPlan& plan) {
  const std::uint32_t per_node = plan.processes_of_node == 0 ? plan.processes : plan.processes_of_node;
  for (std::uint32_t p = 0; p < plan.processes; ++p) {
    add_row(run.processes);
    run.processes.process[p] = p;
    run.processes.rank[p] = static_cast<std::int32_t>(p);
    run.processes.local_rank[p] = static_cast<std::int32_t>(p % per_node);
    run.processes.node[p] = p / per_node;
    run.processes.start_ns[p] = 0;
    run.processes.end_ns[p] = 1'000'000'000'000;
    if (p % per_node == 0) {
      const std::size_t node = add_row(run.nodes);
      run.nodes.node[node] = static_cast<std::uint32_t>(node);
      run.nodes.host[node] = run.strings.intern("n" + std::to_string(node));
    }
    if (!plan.has_devices) continue;
    add_row(run.devices);
    run.devices.device[p] = p;
    run.devices.node[p] = p / per_node;
    run.devices.process[p] = p;
    run.devices.ordinal[p] = 0;
  }
  run.attributes.n_nodes = static_cast<std::uint32_t>(run.nodes.node.size());
}

void add_comms(RunTables& run, const MeetingPlan& plan) {
  for (const std::vector<std::uint32_t>& processes : plan.comms) {
    const std::size_t comm = add_row(run.comms);
    run.comms.comm[comm] = static_cast<std::uint32_t>(comm);
    run.comms.n_ranks[comm] = static_cast<std::uint32_t>(processes.size());
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const std::size_t member = add_row(run.comm_members);
      run.comm_members.member_process[member] = processes[i];
      run.comm_members.member_comm_rank[member] = static_cast<std::int32_t>(i);
      if (plan.has_devices && processes[i] != kNoIndex) {
        run.comm_members.member_device[member] = static_cast<std::int32_t>(processes[i]);
      }
    }
    run.comm_member_offset.push_back(run.comm_members.member_process.size());
  }
}

void add_call(RunTables& run, const MeetingPlan& plan, const Meeting& meeting, const Side& side) {
  NcclTable& t = run.nccl;
  const std::size_t row = add_row(t);
  const std::int64_t dur_ns = meeting.end_ns[side.member] - meeting.start_ns[side.member];
  t.start_ns[row] = side.host_ns;
  t.enqueue_ns[row] = side.host_ns;
  t.end_api_ns[row] = side.host_ns + (meeting.is_on_gpu ? 0 : dur_ns);
  if (meeting.is_on_gpu) {
    t.gpu_start_ns[row] = meeting.start_ns[side.member];
    t.gpu_dur_ns[row] = dur_ns;
  }
  t.comm[row] = meeting.comm;
  t.comm_rank[row] = static_cast<std::int32_t>(side.member);
  t.coll[row] = meeting.coll;
  t.dtype[row] = Dtype::kF32;
  t.size_bytes[row] = 1024;
  if (plan.has_devices) t.device[row] = static_cast<std::int32_t>(side.process);
  t.instance[row] = side.meeting;
}

void add_instance(RunTables& run, const MeetingPlan& plan, const Meeting& meeting, std::size_t number) {
  CollectiveTable& t = run.collectives;
  const std::size_t row = add_row(t);
  t.comm[row] = meeting.comm;
  t.seq[row] = number;
  t.coll[row] = meeting.coll;
  t.dtype[row] = Dtype::kF32;
  t.size_bytes[row] = 1024;
  t.n_ranks[row] = static_cast<std::uint32_t>(plan.comms[meeting.comm].size());
  t.n_seen[row] = 0;
  t.flags[row] = meeting.flags;
  t.clock_bound_ns[row] = meeting.bound_ns;
  t.clock_sigma_ns[row] = meeting.bound_ns / 10;
  if (meeting.is_captured || meeting.replay != kNoRow) t.capture[row] = 0;
  t.replay[row] = meeting.replay;
  for (std::size_t i = 0; i < meeting.start_ns.size(); ++i) {
    if (meeting.start_ns[i] < 0) continue;
    const std::int64_t host_ns = meeting.start_ns[i] - meeting.ahead_ns;
    ++t.n_seen[row];
    const bool is_first = t.first_enqueue_ns[row] < 0;
    t.first_enqueue_ns[row] = is_first ? host_ns : std::min(t.first_enqueue_ns[row], host_ns);
    t.last_enqueue_ns[row] = std::max(t.last_enqueue_ns[row], host_ns);
    if (!meeting.is_on_gpu) continue;
    t.first_start_ns[row] = is_first ? meeting.start_ns[i] : std::min(t.first_start_ns[row], meeting.start_ns[i]);
    t.last_start_ns[row] = std::max(t.last_start_ns[row], meeting.start_ns[i]);
    t.last_end_ns[row] = std::max(t.last_end_ns[row], meeting.end_ns[i]);
  }
  if (t.n_seen[row] < t.n_ranks[row]) t.flags[row] |= kInstancePartial;
}

}  // namespace

RunTables run_of_meetings(const MeetingPlan& plan, const std::vector<Meeting>& meetings) {
  RunTables run;
  add_job(run, plan);
  add_comms(run, plan);
  std::vector<Side> sides;
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    for (std::size_t i = 0; i < meetings[k].start_ns.size(); ++i) {
      if (meetings[k].start_ns[i] < 0) continue;
      sides.push_back({plan.comms[meetings[k].comm][i], k, i, meetings[k].start_ns[i] - meetings[k].ahead_ns});
    }
  }
  std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::pair(a.process, a.host_ns) < std::pair(b.process, b.host_ns);
  });
  std::vector<std::vector<std::uint64_t>> rows(meetings.size());
  for (std::size_t k = 0; k < meetings.size(); ++k) rows[k].resize(meetings[k].start_ns.size(), kNoRow);
  std::size_t next = 0;
  for (std::uint32_t p = 0; p < plan.processes; ++p) {
    for (; next < sides.size() && sides[next].process == p; ++next) {
      rows[sides[next].meeting][sides[next].member] = run.nccl.start_ns.size();
      add_call(run, plan, meetings[sides[next].meeting], sides[next]);
    }
    run.nccl_process_offset.push_back(run.nccl.start_ns.size());
  }
  fill_empty_offsets(run);
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    add_instance(run, plan, meetings[k], k);
    for (const std::uint64_t row : rows[k]) {
      if (row != kNoRow) run.collective_members.event_row.push_back(row);
    }
    run.collective_member_offset.push_back(run.collective_members.event_row.size());
  }
  return run;
}

}  // namespace jaxprof::study::test
