// The one file of synthetic_run that knows CLI11, which throws.
#include "tests/synthetic/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "agent/base/parse_number.h"
#include "tests/synthetic/scenario.h"

namespace jaxprof::synthetic {
namespace {

std::int64_t to_ns(double us) {
  return std::llround(us * 1000);
}
double to_us(std::int64_t ns) {
  return static_cast<double>(ns) / 1000;
}

// What the options of a training say, as text and in microseconds.
struct TrainingWords {
  bool is_training = false;
  double step_us = to_us(TrainingPlan{}.step_ns);
  double jitter_us = to_us(TrainingPlan{}.jitter_ns);
  double counter_us = to_us(RunPlan{}.counter_period_ns);
  TrainingComms comms = TrainingComms::kWorld;
  std::string ranks;
  std::vector<std::string> slowdowns;

  void add_to(CLI::App* app) {
    auto* const flag =
        app->add_flag("--training", is_training, "a training job of --steps steps whose ranks wait for each other");
    app->add_option("--step-us", step_us, "kernels of a rank in a step")->needs(flag)->capture_default_str();
    app->add_option("--jitter-us", jitter_us, "within this sound ranks come")->needs(flag)->capture_default_str();
    app->add_option("--counter-us", counter_us, "from one sample to the next")->needs(flag)->capture_default_str();
    app->add_option("--comms", comms, "all ranks; nodes and all ranks; nodes, and ranks of one place on their nodes")
        ->needs(flag)
        ->transform(CLI::CheckedTransformer(std::map<std::string, TrainingComms>{
            {"world", TrainingComms::kWorld}, {"mixed", TrainingComms::kMixed}, {"sub", TrainingComms::kSub}}));
    app->add_option("--ranks", ranks, "that are recorded, as jaxprof-exec takes them")->needs(flag);
    app->add_option(
           "--slow", slowdowns,
           "KIND:WHERE:AMOUNT or KIND:WHERE:AMOUNT:STEPS. host-stall, host-stall-once, slow-copy and skew\n"
           "by microseconds, slow-kernels, slow-nic and slow-network by a factor; at rank3, node1, rotating0,\n"
           "node1.0 (a port) or network; in steps 4-6 or 5; may be repeated")
        ->needs(flag);
  }

  Status take(RunPlan* plan) const {
    if (!is_training) return {};
    TrainingPlan training;
    training.step_ns = to_ns(step_us);
    training.jitter_ns = to_ns(jitter_us);
    training.comms = comms;
    training.ranks = ranks;
    for (const std::string& text : slowdowns) {
      const auto slowdown = parse_slowdown(text);
      if (!slowdown) return tl::unexpected(slowdown.error());
      training.slowdowns.push_back(*slowdown);
    }
    plan->has_api = true;
    plan->counter_period_ns = to_ns(counter_us);
    plan->training = std::move(training);
    return {};
  }
};

void add_plan(CLI::App* app, RunPlan* plan) {
  app->add_option("--kernels", plan->kernels, "kernels of the program in the whole run; NCCL's come on top");
  app->add_option("--nccl", plan->calls, "NCCL calls in the whole run");
  app->add_option("--nccl-by", plan->nccl_by, "what tells of them")
      ->transform(CLI::CheckedTransformer(std::map<std::string, NcclBy>{
          {"both", NcclBy::kBoth}, {"plugin", NcclBy::kPlugin}, {"nvtx", NcclBy::kNvtx}}));
  app->add_option("--nvtx", plan->ranges, "NVTX ranges of the program in the whole run, its steps among them");
  app->add_option("--steps", plan->steps, "steps, at most as many as a rank has ranges")->capture_default_str();
  app->add_flag("--api", plan->has_api, "the CUDA call of each kernel as well");
  app->add_flag("--clocks", plan->has_clocks, "nodes whose clocks differ, and probes between them");
  app->add_flag("--counters", plan->has_counters, "samples of ports and GPUs, of a training");
  app->add_option("--seed", plan->seed)->capture_default_str();
}

// "NODE:MICROSECONDS"
Status take_crooked(const std::string& text, RunPlan* plan) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  const auto node = parse_uint64(text.substr(0, colon));
  const auto us = parse_uint64(colon == std::string::npos ? "" : text.substr(colon + 1));
  constexpr std::uint64_t kMostUs = 10'000'000;
  if (!node || *node > UINT32_MAX || !us || *us > kMostUs) {
    return fail(ErrorCode::kUsage, "--crooked " + text + ": it is written NODE:MICROSECONDS");
  }
  plan->crooked_node = static_cast<std::uint32_t>(*node);
  plan->crooked_ns = static_cast<std::int64_t>(*us * 1000);
  return {};
}

Status take_faults(const std::vector<std::string>& faults, RunPlan* plan) {
  for (const std::string& text : faults) {
    const auto fault = parse_fault(text);
    if (!fault) return tl::unexpected(fault.error());
    plan->faults.push_back(*fault);
  }
  return {};
}

std::string scenario_words() {
  std::string words;
  for (const Scenario& scenario : scenarios()) {
    words += (words.empty() ? "" : "\n") + std::string(scenario.name) + ": " + scenario.what;
  }
  return words;
}

Result<Options> take_scenario(const std::string& name, Options options) {
  auto plan = scenario_plan(name, options.plan.seed);
  if (!plan) return tl::unexpected(plan.error());
  options.plan = std::move(*plan);
  options.threads = std::max(1U, options.threads);
  return options;
}

}  // namespace

Result<Options> parse_options(std::vector<std::string> arguments) {
  Options options;
  RunPlan& plan = options.plan;
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> faults;
  std::uint32_t nodes = 0;
  double probe_us = to_us(plan.probe_way_ns);
  std::string crooked;
  std::string scenario;
  TrainingWords training;
  CLI::App app("Writes the run directory of a training job that never ran, and prints what is in it as JSON.",
               "synthetic_run");
  app.add_option("DIRECTORY", options.directory, "where to write it; made if it does not exist")->required();
  app.add_option("--processes", plan.processes, "ranks, each with a GPU")->capture_default_str();
  auto* const per_node = app.add_option("--ranks-per-node", plan.ranks_per_node)->capture_default_str();
  app.add_option("--nodes", nodes, "instead: as many nodes")->excludes(per_node);
  add_plan(&app, &plan);
  training.add_to(&app);
  app.add_option("--probe-us", probe_us, "a probe's way from one node to another, at least")->capture_default_str();
  app.add_option("--crooked", crooked, "NODE:MICROSECONDS: probes to that node take so much longer than those from it");
  app.add_option("--scenario", scenario,
                 "instead of all others but --seed: a training job with a known straggler\n" + scenario_words());
  app.add_option("--fault", faults,
                 "late:RANK:MICROSECONDS, or KIND:RANK with missing, torn, duplicate, swap, reorder, skip, lose,\n"
                 "late-step; may be repeated");
  app.add_option("--threads", options.threads, "ranks that are written at once")->capture_default_str();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + " (--help lists the options)");
  }
  if (!scenario.empty()) return take_scenario(scenario, std::move(options));
  if (nodes > 0) plan.ranks_per_node = (plan.processes + nodes - 1) / nodes;
  plan.probe_way_ns = to_ns(probe_us);
  options.threads = std::max(1U, options.threads);
  const Status taken = take_faults(faults, &plan).and_then([&] { return take_crooked(crooked, &plan); }).and_then([&] {
    return training.take(&plan);
  });
  if (!taken) return tl::unexpected(taken.error());
  return options;
}

}  // namespace jaxprof::synthetic
