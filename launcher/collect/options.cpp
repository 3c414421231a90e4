// The one file of `jaxprof` that knows CLI11, which throws.
#include "launcher/collect/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace jaxprof::launcher {

Result<CollectOptions> parse_collect_options(std::vector<std::string> arguments) {
  CollectOptions options;
  CLI::App app("Looks after profiled jobs.", "jaxprof");
  app.set_version_flag("--version", "jaxprof " JAXPROF_VERSION);
  app.require_subcommand(1);
  CLI::App* collect = app.add_subcommand(
      "collect",
      "Brings into DIRECTORY what killed tasks of its runs left on this node. Tasks whose wrapper lives are left\n"
      "alone. It may be called at any time, again, and by several at once; it takes the user who ran the job. On\n"
      "all nodes of a job:\n"
      "  srun --overlap --mem=0 --gres=none -N$SLURM_JOB_NUM_NODES -n$SLURM_JOB_NUM_NODES jaxprof collect DIRECTORY");
  collect->add_option("DIRECTORY", options.directory, "the directory that jaxprof-exec -o named")->required();
  collect->add_option("--run", options.run, "only this run: JOB.STEP.RESTART");
  collect->add_flag("--dry-run", options.is_dry_run, "say what would be collected");
  collect->add_flag("--quiet", options.is_quiet, "say nothing but what could not be collected");
  collect->footer(
      "Exit status: 0 done, also if there was nothing to do; 2 usage; 3 DIRECTORY cannot be read or holds no run;\n"
      "4 something could not be collected, which is named with its place and the reason; 5 output not written.");
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
  } catch (const CLI::CallForVersion&) {
    options.text = app.version() + "\n";
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + " (--help lists the options)");
  }
  return options;
}

}  // namespace jaxprof::launcher
