// The one file of `jaxprof` that knows CLI11, which throws.
#include "launcher/collect/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "agent/contract/port_range.h"

namespace jaxprof::launcher {
namespace {

CLI::App* add_collect(CLI::App* app, CollectOptions* options) {
  CLI::App* collect = app->add_subcommand(
      "collect",
      "Brings into DIRECTORY what killed tasks of its runs left on this node. Tasks whose wrapper lives are left\n"
      "alone. It may be called at any time, again, and by several at once; it takes the user who ran the job. On\n"
      "all nodes of a job:\n"
      "  srun --overlap --mem=0 --gres=none -N$SLURM_JOB_NUM_NODES -n$SLURM_JOB_NUM_NODES jaxprof collect DIRECTORY");
  collect->add_option("DIRECTORY", options->directory, "the directory that jaxprof-exec -o named")->required();
  collect->add_option("--run", options->run, "only this run: JOB.STEP.RESTART");
  collect->add_flag("--dry-run", options->is_dry_run, "say what would be collected");
  collect->add_flag("--quiet", options->is_quiet, "say nothing but what could not be collected");
  collect->footer(
      "Exit status: 0 done, also if there was nothing to do; 2 usage; 3 DIRECTORY cannot be read or holds no run;\n"
      "4 something could not be collected, which is named with its place and the reason; 5 output not written.");
  return collect;
}

void add_doctor(CLI::App* app, DoctorOptions* options) {
  CLI::App* doctor = app->add_subcommand(
      "doctor",
      "Says what could be recorded of this node's network ports, GPUs and clock: what there is, where and how often "
      "it\n"
      "is read, and why not in a better way. It takes up to half a minute where GPUs have to be set up first. On all "
      "nodes:\n"
      "  srun -N$SLURM_JOB_NUM_NODES -n$SLURM_JOB_NUM_NODES -l jaxprof doctor");
  doctor->add_flag("--json", options->is_json, "as JSON");
  doctor
      ->add_option("--meet", options->meeting_folder,
                   "a folder that all nodes see: stay for six seconds, and ask the clocks of up to five other nodes "
                   "that were started with it too")
      ->type_name("DIR");
  doctor
      ->add_option("--clock-port", options->clock_ports,
                   "the UDP ports that may be taken for that, as of jaxprof-exec: up to five (default: any)")
      ->type_name("LO-HI");
  doctor->footer(
      "Exit status: 0 all that is listed can be recorded; 2 usage; 5 output not written; 6 something that is listed\n"
      "cannot be recorded, or a node that came does not answer (rows that begin with FAULT).");
}

}  // namespace

Result<Invocation> parse_invocation(std::vector<std::string> arguments) {
  Invocation invocation;
  CLI::App app("Looks after nodes and profiled jobs.", "jaxprof");
  app.set_version_flag("--version", "jaxprof " JAXPROF_VERSION);
  app.require_subcommand(1);
  const CLI::App* collect = add_collect(&app, &invocation.collect);
  add_doctor(&app, &invocation.doctor);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    invocation.text = app.help();
    return invocation;
  } catch (const CLI::CallForVersion&) {
    invocation.text = app.version() + "\n";
    return invocation;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + " (--help lists the options)");
  }
  const std::string& ports = invocation.doctor.clock_ports;
  if (!ports.empty() && !parse_port_span(ports)) {
    return fail(ErrorCode::kUsage, "--clock-port " + ports + ": not a range of ports such as 40000-40099");
  }
  invocation.command = collect->parsed() ? Command::kCollect : Command::kDoctor;
  return invocation;
}

}  // namespace jaxprof::launcher
