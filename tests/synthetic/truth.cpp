#include "tests/synthetic/truth.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/synthetic/training_truth.h"

namespace jaxprof::synthetic {
namespace {

using Json = nlohmann::ordered_json;

// Words of the run file.
const char* word_of(spool::NcclFunction function) {
  switch (function) {
    case spool::NcclFunction::kAllGather:
      return "AllGather";
    case spool::NcclFunction::kReduceScatter:
      return "ReduceScatter";
    case spool::NcclFunction::kBroadcast:
      return "Broadcast";
    default:
      return "AllReduce";
  }
}

Json to_json(std::vector<OddCall> calls) {
  std::sort(calls.begin(), calls.end(), [](const OddCall& a, const OddCall& b) {
    return std::tie(a.rank, a.comm, a.function, a.sequence) < std::tie(b.rank, b.comm, b.function, b.sequence);
  });
  Json list = Json::array();
  for (const OddCall& call : calls) {
    list.push_back({{"rank", call.rank},
                    {"comm", name_of(call.comm)},
                    {"comm_hash", call.comm_hash},
                    {"coll", word_of(call.function)},
                    {"seq", call.sequence}});
  }
  return list;
}

Json ranks_with(const Run& run, FaultKind kind) {
  Json list = Json::array();
  for (const FaultyRank& faulty : run.faults_in({CommKind::kWorld, 0, run.plan().processes, 0})) {
    if (faulty.fault.kind == kind) list.push_back(faulty.fault.rank);
  }
  return list;
}

}  // namespace

void RunTruth::add(RunTruth part) {
  processes += part.processes;
  spool_bytes += part.spool_bytes;
  events += part.events;
  dropped += part.dropped;
  kernels += part.kernels;
  api += part.api;
  nvtx += part.nvtx;
  nccl += part.nccl;
  nccl_work += part.nccl_work;
  steps += part.steps;
  collectives += part.collectives;
  members += part.members;
  partial += part.partial;
  mismatched += part.mismatched;
  messages += part.messages;
  half_messages += part.half_messages;
  missing_calls.insert(missing_calls.end(), part.missing_calls.begin(), part.missing_calls.end());
  moved_calls.insert(moved_calls.end(), part.moved_calls.begin(), part.moved_calls.end());
  for (const auto& [rank, own] : part.ranks) {
    RankTruth& to = ranks[rank];
    to.calls += own.calls;
    to.kernels += own.kernels;
    to.collectives += own.collectives;
    to.lateness_ns += own.lateness_ns;
    to.came_last += own.came_last;
  }
}

std::string to_json(const RunTruth& truth, const Run& run) {
  Json json;
  json["processes"] = truth.processes;
  json["world_size"] = run.plan().processes;
  json["nodes"] = run.plan().node_count();
  json["spool_bytes"] = truth.spool_bytes;
  json["events"] = truth.events;
  json["dropped"] = truth.dropped;
  json["rows"] = {{"kernels", truth.kernels},
                  {"api", truth.api},
                  {"nvtx", truth.nvtx},
                  {"nccl", truth.nccl},
                  {"steps", truth.steps},
                  {"nccl_work", truth.nccl_work},
                  {"collectives", truth.collectives},
                  {"members", truth.members}};
  json["partial"] = truth.partial;
  json["mismatched"] = truth.mismatched;
  json["messages"] = truth.messages;
  json["half_messages"] = truth.half_messages;
  json["missing_ranks"] = ranks_with(run, FaultKind::kMissing);
  json["torn_ranks"] = ranks_with(run, FaultKind::kTorn);
  json["duplicate_ranks"] = ranks_with(run, FaultKind::kDuplicate);
  json["late_step_ranks"] = ranks_with(run, FaultKind::kLateStep);
  json["missing_calls"] = to_json(truth.missing_calls);
  json["moved_calls"] = to_json(truth.moved_calls);
  Json ranks = Json::array();
  for (const auto& [rank, own] : truth.ranks) {
    const double count = std::max(1.0, static_cast<double>(own.collectives));
    ranks.push_back({{"rank", rank},
                     {"calls", own.calls},
                     {"kernels", own.kernels},
                     {"collectives", own.collectives},
                     {"lateness_mean_ns", static_cast<double>(own.lateness_ns) / count},
                     {"came_last", own.came_last}});
  }
  json["ranks"] = std::move(ranks);
  if (run.course() != nullptr) json["training"] = Json::parse(training_json(run));
  return json.dump(1) + "\n";
}

}  // namespace jaxprof::synthetic
