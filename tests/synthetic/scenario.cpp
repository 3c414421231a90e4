#include "tests/synthetic/scenario.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace jaxprof::synthetic {
namespace {

using test::SimRandom;
using Where = Slowdown::Where;

constexpr std::uint32_t kRanks = 8;
constexpr std::uint32_t kNodes = 4;
constexpr std::uint32_t kSteps = 20;
// That samples of counters can tell from the next one. Twenty steps of 24 ms are over before a counter has been read
// often enough.
constexpr std::int64_t kLongStepNs = 120'000'000;
constexpr std::int64_t kUs = 1'000;

std::uint32_t one_of(SimRandom* random, std::uint32_t count) {
  return static_cast<std::uint32_t>(random->next() % count);
}

Slowdown& add(SlowdownKind kind, Where where, std::uint32_t number, RunPlan* plan) {
  Slowdown& slowdown = plan->training->slowdowns.emplace_back();
  slowdown.kind = kind;
  slowdown.where = where;
  slowdown.number = number;
  return slowdown;
}

Slowdown& add_to_rank(SlowdownKind kind, SimRandom* random, RunPlan* plan) {
  return add(kind, Where::kRank, one_of(random, kRanks), plan);
}

std::int64_t between_us(SimRandom* random, double least, double most) {
  return std::llround(random->uniform(least, most)) * kUs;
}

// Behind the first steps, which a study may take for warm-up, and before the last one.
void only_some_steps(std::uint32_t count, SimRandom* random, Slowdown* slowdown) {
  constexpr std::uint32_t kFirst = 4;
  slowdown->first_step = kFirst + one_of(random, kSteps - 1 - kFirst - count);
  slowdown->last_step = slowdown->first_step + count - 1;
}

// Steps that counters can follow.
void be_long(RunPlan* plan) {
  plan->training->step_ns = kLongStepNs;
  plan->has_counters = true;
}

void lose(FaultKind kind, SimRandom* random, RunPlan* plan) {
  plan->faults.push_back({kind, one_of(random, kRanks), 0});
}

void clean(SimRandom* /*random*/, RunPlan* /*plan*/) {}

void clean_in_nodes(SimRandom* /*random*/, RunPlan* plan) {
  plan->training->comms = TrainingComms::kMixed;
}

void warm_up(SimRandom* random, RunPlan* plan) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    Slowdown& slowdown = add(SlowdownKind::kHostStallOnce, Where::kRank, rank, plan);
    slowdown.extra_ns = between_us(random, 50'000, 90'000);
    slowdown.first_step = slowdown.last_step = 0;
  }
}

void host(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kHostStall, random, plan).extra_ns = between_us(random, 900, 1500);
}

void host_once(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kHostStallOnce, random, plan).extra_ns = between_us(random, 4000, 6000);
}

void kernels(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kSlowKernels, random, plan).factor = random->uniform(1.25, 1.5);
  plan->has_counters = true;
}

void copy(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kSlowCopy, random, plan).extra_ns = between_us(random, 4000, 6000);
}

void node(SimRandom* random, RunPlan* plan) {
  const std::uint32_t number = one_of(random, kNodes);
  add(SlowdownKind::kSlowKernels, Where::kNode, number, plan).factor = random->uniform(1.25, 1.5);
  plan->has_counters = true;
}

void nic(SimRandom* random, RunPlan* plan) {
  Slowdown& slowdown = add(SlowdownKind::kSlowNic, Where::kPort, one_of(random, kNodes), plan);
  slowdown.port = one_of(random, kPortsOfNode);
  slowdown.factor = random->uniform(2, 4);
  be_long(plan);
}

void network(SimRandom* random, RunPlan* plan) {
  Slowdown& slowdown = add(SlowdownKind::kSlowNetwork, Where::kNetwork, 0, plan);
  slowdown.factor = random->uniform(2, 4);
  only_some_steps(4, random, &slowdown);
  be_long(plan);
}

void rotating(SimRandom* random, RunPlan* plan) {
  add(SlowdownKind::kHostStall, Where::kRotating, one_of(random, kRanks), plan).extra_ns =
      between_us(random, 900, 1500);
}

void three_steps(SimRandom* random, RunPlan* plan) {
  Slowdown& slowdown = add_to_rank(SlowdownKind::kSlowKernels, random, plan);
  slowdown.factor = random->uniform(1.5, 2);
  only_some_steps(3, random, &slowdown);
}

void host_in_nodes(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kHostStall, random, plan).extra_ns = between_us(random, 1000, 1500);
  plan->training->comms = TrainingComms::kMixed;
}

void sub_comms(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kSlowKernels, random, plan).factor = random->uniform(1.3, 1.5);
  plan->training->comms = TrainingComms::kSub;
}

void skew(SimRandom* random, RunPlan* plan) {
  add_to_rank(SlowdownKind::kSkew, random, plan).extra_ns = between_us(random, 30, 60);
  plan->training->jitter_ns = 10 * kUs;
  plan->probe_way_ns = 1000 * kUs;
}

void crooked(SimRandom* random, RunPlan* plan) {
  plan->crooked_node = one_of(random, kNodes);
  plan->crooked_ns = between_us(random, 100, 300);
  plan->probe_way_ns = 200 * kUs;
}

void lost_call(SimRandom* random, RunPlan* plan) {
  host(random, plan);
  lose(FaultKind::kLose, random, plan);
}

void late_step(SimRandom* random, RunPlan* plan) {
  host(random, plan);
  lose(FaultKind::kLateStep, random, plan);
}

void missing_rank(SimRandom* random, RunPlan* plan) {
  host(random, plan);
  lose(FaultKind::kMissing, random, plan);
}

void one_traced(SimRandom* random, RunPlan* plan) {
  host(random, plan);
  plan->training->ranks = std::to_string(one_of(random, kRanks));
}

// The place of one decides its random numbers: new ones go to the end.
constexpr Scenario kScenarios[] = {
    {"clean", "no straggler", clean},
    {"clean-in-nodes", "no straggler; communicators of nodes as well", clean_in_nodes},
    {"host", "a rank's host stalls before each collective", host},
    {"host-once", "a rank's host waits for the input of each step", host_once},
    {"kernels", "a GPU's clock is low", kernels},
    {"copy", "a rank's copy of each step's input is slow", copy},
    {"node", "the GPUs of a node are slow", node},
    {"nic", "a port is slow", nic},
    {"network", "the network is slow in four steps", network},
    {"rotating", "the host of another rank stalls in each step", rotating},
    {"three-steps", "a GPU is slow in three steps", three_steps},
    {"host-in-nodes", "as host, and makes the others of its node late to the world's collectives", host_in_nodes},
    {"sub-comms", "a GPU is slow, and no communicator has all ranks", sub_comms},
    {"skew", "a rank is late by less than the clocks can tell", skew},
    {"crooked", "nobody is late, but the clock of a node is wrong within its bound", crooked},
    {"lost-call", "as host, and a rank lost the record of a call", lost_call},
    {"late-step", "as host, and a rank is recorded from step 1 on", late_step},
    {"missing-rank", "as host, and a rank left nothing: no collective has all members", missing_rank},
    {"one-traced", "as host, and one rank is recorded", one_traced},
    {"warm-up", "no straggler but in the first step, in which all compile", warm_up},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

Result<RunPlan> scenario_plan(const std::string& name, std::uint64_t seed) {
  const auto* const scenario =
      std::find_if(std::begin(kScenarios), std::end(kScenarios), [&name](const Scenario& s) { return s.name == name; });
  if (scenario == std::end(kScenarios)) {
    std::string names;
    for (const Scenario& known : kScenarios) names += std::string(" ") + known.name;
    return fail(ErrorCode::kUsage, "--scenario " + name + ": the scenarios are" + names);
  }
  RunPlan plan;
  plan.processes = kRanks;
  plan.ranks_per_node = kRanks / kNodes;
  plan.steps = kSteps;
  plan.seed = seed;
  plan.has_api = true;
  plan.has_clocks = true;
  plan.training.emplace();
  SimRandom random(test::mix(seed, static_cast<std::uint64_t>(scenario - std::begin(kScenarios)) + 0x5ce0));
  scenario->shape(&random, &plan);
  return plan;
}

}  // namespace jaxprof::synthetic
