#include "tests/synthetic/run_records.h"

#include <array>
#include <cstdio>

#include "agent/base/clocks.h"
#include "agent/contract/step_marker.h"

namespace jaxprof::synthetic {
namespace {

using spool::IdentityKey;

constexpr const char* kStepId = "0";
constexpr const char* kTrace = "cuda,nvtx,nccl";
constexpr std::int64_t kStartNs = 500'000'000;  // of the wrappers, in the run's time

std::int64_t pid_of(std::uint32_t rank) {
  return 20'000 + 2 * std::int64_t{rank};
}

}  // namespace

std::string stem_of(std::uint32_t rank) {
  return "rank" + std::to_string(rank);
}

std::string host_of(std::uint32_t node) {
  std::array<char, 24> name{};
  std::snprintf(name.data(), name.size(), "node%04u", node);
  return name.data();
}

std::string boot_id_of(const RunPlan& plan, std::uint32_t node) {
  const std::uint64_t high = test::mix(plan.seed ^ 0xb007, node);
  const std::uint64_t low = test::mix(high, node);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xffff),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xffff'ffff'ffff));
  return text.data();
}

std::uint32_t tid_of(std::uint32_t rank) {
  return static_cast<std::uint32_t>(pid_of(rank) + 1);
}

std::map<IdentityKey, std::string> identity_texts(const RunPlan& plan, std::uint32_t rank) {
  const std::uint32_t node = plan.node_of(rank);
  return {{IdentityKey::kRunId, kRunId},
          {IdentityKey::kJobId, kJobId},
          {IdentityKey::kStepId, kStepId},
          {IdentityKey::kLauncher, "slurm"},
          {IdentityKey::kRankVariable, "SLURM_PROCID"},
          {IdentityKey::kHost, host_of(node)},
          {IdentityKey::kBootId, boot_id_of(plan, node)},
          {IdentityKey::kStem, stem_of(rank)},
          {IdentityKey::kVersion, JAXPROF_VERSION},
          {IdentityKey::kExecutable, "/usr/bin/python3"},
          {IdentityKey::kCommandLine, std::string("python\0train.py\0", 16)},
          {IdentityKey::kStepMarker, kDefaultStepMarker},
          {IdentityKey::kTask, std::to_string(rank)},
          {IdentityKey::kTrace, kTrace}};
}

std::map<IdentityKey, std::int64_t> identity_numbers(const Run& run, std::uint32_t rank, std::int64_t attach_ns) {
  const RunPlan& plan = run.plan();
  const std::uint32_t node = plan.node_of(rank);
  return {{IdentityKey::kRestart, 0},
          {IdentityKey::kRank, rank},
          {IdentityKey::kWorldSize, plan.processes},
          {IdentityKey::kLocalRank, rank % plan.ranks_per_node},
          {IdentityKey::kNodeIndex, node},
          {IdentityKey::kPid, pid_of(rank) + 1},
          {IdentityKey::kStartTicks, 1'000 + rank},
          {IdentityKey::kWrapperPid, pid_of(rank)},
          {IdentityKey::kSlot, 0},
          {IdentityKey::kEventClock, static_cast<std::int64_t>(ClockId::kMonotonicRaw)},
          {IdentityKey::kTimeNamespace, 4026531834},
          {IdentityKey::kUserId, 1000},
          {IdentityKey::kAttachRealtimeNs, run.times().wall_ns(node, attach_ns)}};
}

TaskStart task_start_of(const Run& run, std::uint32_t rank) {
  const RunPlan& plan = run.plan();
  const std::uint32_t node = plan.node_of(rank);
  TaskStart start;
  start.run_id = kRunId;
  start.job_id = kJobId;
  start.step_id = kStepId;
  start.task = std::to_string(rank);
  start.rank = rank;
  start.world_size = plan.processes;
  start.local_rank = rank % plan.ranks_per_node;
  start.node_index = node;
  start.launcher = "slurm";
  start.rank_variable = "SLURM_PROCID";
  start.host = host_of(node);
  start.boot_id = boot_id_of(plan, node);
  start.pid = pid_of(rank);
  start.realtime_ns = run.times().wall_ns(node, kStartNs);
  start.is_profiled = true;
  if (plan.training && !plan.training->ranks.empty()) start.selection = "--ranks " + plan.training->ranks;
  start.output = "prof/rank%r";
  start.stem = stem_of(rank);
  start.spool_directory = "/tmp/jaxprof." + start.task;
  start.trace = kTrace;
  start.command = {"python", "train.py"};
  start.version = JAXPROF_VERSION;
  return start;
}

TaskEnd task_end_of(const Run& run, std::uint32_t rank, std::int64_t true_ns) {
  TaskEnd end;
  end.task = std::to_string(rank);
  end.pid = pid_of(rank) + 1;
  end.exit_code = 0;
  end.realtime_ns = run.times().wall_ns(run.plan().node_of(rank), true_ns);
  return end;
}

}  // namespace jaxprof::synthetic
