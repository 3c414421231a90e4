// The one file of synthetic_run that knows CLI11, which throws.
#include "tests/synthetic/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <thread>

namespace jaxprof::synthetic {

Result<Options> parse_options(std::vector<std::string> arguments) {
  Options options;
  RunPlan& plan = options.plan;
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> faults;
  std::uint32_t nodes = 0;
  CLI::App app("Writes the run directory of a training job that never ran, and prints what is in it as JSON.",
               "synthetic_run");
  app.add_option("DIRECTORY", options.directory, "where to write it; made if it does not exist")->required();
  app.add_option("--processes", plan.processes, "ranks, each with a GPU")->capture_default_str();
  auto* const per_node = app.add_option("--ranks-per-node", plan.ranks_per_node)->capture_default_str();
  app.add_option("--nodes", nodes, "instead: as many nodes")->excludes(per_node);
  app.add_option("--kernels", plan.kernels, "kernels of the program in the whole run; NCCL's come on top");
  app.add_option("--nccl", plan.calls, "NCCL calls in the whole run");
  app.add_option("--nccl-by", plan.nccl_by, "what tells of them")
      ->transform(CLI::CheckedTransformer(std::map<std::string, NcclBy>{
          {"both", NcclBy::kBoth}, {"plugin", NcclBy::kPlugin}, {"nvtx", NcclBy::kNvtx}}));
  app.add_option("--nvtx", plan.ranges, "NVTX ranges of the program in the whole run, its steps among them");
  app.add_option("--steps", plan.steps, "steps, at most as many as a rank has ranges")->capture_default_str();
  app.add_flag("--api", plan.has_api, "the CUDA call of each kernel as well");
  app.add_flag("--clocks", plan.has_clocks, "nodes whose clocks differ, and probes between them");
  app.add_option("--seed", plan.seed)->capture_default_str();
  app.add_option("--fault", faults,
                 "late:RANK:MICROSECONDS, or KIND:RANK with missing, torn, duplicate, swap, reorder, skip, lose,\n"
                 "late-step; may be repeated");
  app.add_option("--threads", options.threads, "ranks that are written at once")->capture_default_str();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + " (--help lists the options)");
  }
  if (nodes > 0) plan.ranks_per_node = (plan.processes + nodes - 1) / nodes;
  for (const std::string& text : faults) {
    const auto fault = parse_fault(text);
    if (!fault) return tl::unexpected(fault.error());
    plan.faults.push_back(*fault);
  }
  options.threads = std::max(1U, options.threads);
  return options;
}

}  // namespace jaxprof::synthetic
