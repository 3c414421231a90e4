#include "tests/synthetic/training_truth.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/synthetic/training_record.h"
#include "tests/synthetic/wait_blame.h"

namespace jaxprof::synthetic {
namespace {

using Json = nlohmann::ordered_json;

const char* cause_of(SlowdownKind kind) {
  switch (kind) {
    case SlowdownKind::kHostStall:
    case SlowdownKind::kHostStallOnce:
      return "host";
    case SlowdownKind::kSlowKernels:
      return "compute";
    case SlowdownKind::kSlowCopy:
      return "copy";
    case SlowdownKind::kSlowNic:
    case SlowdownKind::kSlowNetwork:
      return "network";
    case SlowdownKind::kSkew:
      break;
  }
  return "none";
}

const char* level_of(const Slowdown& slowdown) {
  switch (slowdown.where) {
    case Slowdown::Where::kNode:
      return "node";
    case Slowdown::Where::kPort:
      return "nic";
    case Slowdown::Where::kNetwork:
      return "network";
    default:
      return slowdown.kind == SlowdownKind::kSlowKernels ? "gpu" : "rank";
  }
}

InjectedCause injected_in(const Run& run, const Slowdown& slowdown, std::uint32_t step,
                          const TrainingStepTruth& truth) {
  const RunPlan& plan = run.plan();
  InjectedCause found;
  found.kind = name_of(slowdown.kind);
  found.cause = cause_of(slowdown.kind);
  found.level = level_of(slowdown);
  for (std::uint32_t rank = 0; rank < plan.processes; ++rank) {
    if (!slowdown.acts_on(rank, plan.node_of(rank), step, plan.processes)) continue;
    found.ranks.push_back(rank);
    found.excess_ns += truth.excess_ns[rank];
  }
  if (slowdown.where == Slowdown::Where::kNode || slowdown.where == Slowdown::Where::kPort) {
    found.node = slowdown.number;
  }
  if (slowdown.where == Slowdown::Where::kPort) found.port = slowdown.port;
  if (slowdown.is_of_transfers()) found.excess_ns = truth.transfer_excess_ns;
  return found;
}

void add_excess(const Run& run, std::uint32_t step, TrainingStepTruth* truth) {
  const TrainingCourse& course = *run.course();
  for (std::uint32_t rank = 0; rank < run.plan().processes; ++rank) {
    for (std::size_t unit = 0; unit < course.units().size(); ++unit) {
      truth->excess_ns[rank] += course.segment(rank, step, unit).excess_ns;
    }
  }
}

void add_instance(const Run& run, const CourseInstance& instance, TrainingStepTruth* truth) {
  truth->transfer_excess_ns += instance.excess_ns;
  if (!is_recorded_whole(run, instance)) return;
  std::vector<std::int64_t> arrival_ns;
  for (std::uint32_t i = 0; i < instance.comm.size; ++i) {
    arrival_ns.push_back(run.course()->segment(instance.comm.member(i), instance.step, instance.unit).arrival_ns);
  }
  const WaitBlame split = wait_and_blame(arrival_ns);
  for (std::uint32_t i = 0; i < instance.comm.size; ++i) {
    truth->wait_ns[instance.comm.member(i)] += split.wait_ns[i];
    truth->blame_ns[instance.comm.member(i)] += split.blame_ns[i];
  }
}

Json to_json(const InjectedCause& injected) {
  Json json{{"kind", injected.kind},
            {"cause", injected.cause},
            {"level", injected.level},
            {"ranks", injected.ranks},
            {"excess_ns", injected.excess_ns}};
  if (injected.node >= 0) json["node"] = injected.node;
  if (injected.port >= 0) json["port"] = injected.port;
  return json;
}

}  // namespace

TrainingTruth training_truth(const Run& run) {
  const std::size_t n_ranks = run.plan().processes;
  TrainingTruth truth;
  truth.steps.resize(run.course()->steps());
  truth.wait_ns.resize(n_ranks);
  truth.blame_ns.resize(n_ranks);
  for (TrainingStepTruth& step : truth.steps) {
    step.excess_ns.resize(n_ranks);
    step.wait_ns.resize(n_ranks);
    step.blame_ns.resize(n_ranks);
  }
  for (const CourseInstance& instance : run.course()->instances()) {
    add_instance(run, instance, &truth.steps[instance.step]);
  }
  for (std::uint32_t number = 0; number < truth.steps.size(); ++number) {
    TrainingStepTruth& step = truth.steps[number];
    add_excess(run, number, &step);
    for (const Slowdown& slowdown : run.plan().training->slowdowns) {
      if (slowdown.is_in(number)) step.injected.push_back(injected_in(run, slowdown, number, step));
    }
    for (std::size_t rank = 0; rank < n_ranks; ++rank) {
      truth.wait_ns[rank] += step.wait_ns[rank];
      truth.blame_ns[rank] += step.blame_ns[rank];
    }
  }
  return truth;
}

std::string training_json(const Run& run) {
  const TrainingTruth truth = training_truth(run);
  Json json;
  Json units = Json::array();
  std::uint64_t n_copies = 0;  // of a rank in a step
  for (const StepUnit& unit : run.course()->units()) {
    units.push_back({{"comm", name_of(unit.comm)}, {"bytes", unit.bytes}});
    n_copies += unit.copies.size();
  }
  std::uint64_t n_recorded = 0;
  for (std::uint32_t rank = 0; rank < run.plan().processes; ++rank) {
    if (has_spool(run, rank)) n_recorded += run.course()->steps() - first_recorded_step(run, rank);
  }
  json["step_ns"] = run.plan().training->step_ns;
  json["units"] = std::move(units);
  json["memops"] = n_copies * n_recorded;
  json["wait_ns"] = truth.wait_ns;
  json["blame_ns"] = truth.blame_ns;
  Json steps = Json::array();
  for (const TrainingStepTruth& step : truth.steps) {
    Json injected = Json::array();
    for (const InjectedCause& cause : step.injected) injected.push_back(to_json(cause));
    steps.push_back({{"injected", std::move(injected)},
                     {"excess_ns", step.excess_ns},
                     {"transfer_excess_ns", step.transfer_excess_ns},
                     {"wait_ns", step.wait_ns},
                     {"blame_ns", step.blame_ns}});
  }
  json["steps"] = std::move(steps);
  return json.dump();
}

void count_training(const Run& run, RunTruth* truth) {
  for (const CourseInstance& instance : run.course()->instances()) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> arrivals;  // of those who recorded it
    for (std::uint32_t i = 0; i < instance.comm.size; ++i) {
      const std::uint32_t rank = instance.comm.member(i);
      if (!is_recorded(run, rank, instance.step, instance.unit)) continue;
      arrivals.emplace_back(run.course()->segment(rank, instance.step, instance.unit).arrival_ns, rank);
    }
    if (arrivals.empty()) continue;
    ++truth->collectives;
    if (arrivals.size() < instance.comm.size) ++truth->partial;
    const auto [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
    ++truth->ranks[last->second].came_last;
    for (const auto& [arrival_ns, rank] : arrivals) truth->ranks[rank].lateness_ns += arrival_ns - first->first;
  }
}

}  // namespace jaxprof::synthetic
