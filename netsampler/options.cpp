// The one file of jaxprof-netsampler that knows CLI11, which throws.
#include "netsampler/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "agent/base/parse_number.h"
#include "agent/contract/port_range.h"

namespace jaxprof::netsampler {
namespace {

constexpr double kLongestSeconds = 366.0 * 86400;

struct Words {
  std::string duration;
  std::string cpu;
  std::string clock = "auto";
  std::string clock_ports;
  bool is_probe = false;
};

// "10s", "1.5m", "2h", "500ms", or seconds.
std::optional<std::uint64_t> duration_ns(std::string_view text) {
  double seconds = 1;
  for (const auto& [unit, factor] :
       {std::pair<std::string_view, double>{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    seconds = factor;
    break;
  }
  const auto number = parse_double(text);
  if (!number || *number * seconds < 1e-3 || *number * seconds > kLongestSeconds) return std::nullopt;
  return static_cast<std::uint64_t>(*number * seconds * 1e9);
}

std::optional<int> processor(const std::string& word) {
  if (word == "any") return -1;
  const auto number = parse_int64(word);
  if (!number || *number < 0 || *number > 8191) return std::nullopt;
  return static_cast<int>(*number);
}

void make_absolute(std::string* path) {
  std::error_code ignored;
  if (!path->empty()) *path = std::filesystem::absolute(*path, ignored).string();
}

void add_options(CLI::App* app, Options* options, Words* words) {
  app->add_option("--run-state", options->run_state, "observe the node for a run: its state folder");
  app->add_option("--node-folder", options->node_folder, "what the run's tasks share on this node");
  app->add_option("--run", options->identity.run, "JOB.STEP.RESTART");
  app->add_option("--job", options->identity.job, "the batch system's number of the job");
  app->add_option("--host", options->identity.host, "this node, as a file name");
  app->add_option("--boot-id", options->identity.boot_id, "of /proc/sys/kernel/random/boot_id");
  app->add_option("-o,--out", options->output, "sample into this file, which must not exist");
  app->add_option("--for", words->duration, "how long: 10s, 5m, 2h, seconds (default: until SIGINT or SIGTERM)");
  app->add_flag("--probe", words->is_probe, "print as JSON what could be sampled, and end");
  app->add_flag("--nic,!--no-nic", options->has_nics, "counters of network ports (default: yes)");
  app->add_flag("--gpu,!--no-gpu", options->has_gpus, "clocks, power and throttling of GPUs (default: yes)");
  app->add_option("--nic-hz", options->nic.hz, "how often a second ports are read (default: by driver)")
      ->check(CLI::Range(1, 1000));
  const std::map<std::string, spool::NicSource> sources = {{"auto", spool::NicSource::kNone},
                                                           {"netlink", spool::NicSource::kNetlink},
                                                           {"sysfs", spool::NicSource::kSysfs},
                                                           {"netdev", spool::NicSource::kNetdev}};
  app->add_option("--nic-source", options->nic.source, "where ports are read: auto, netlink, sysfs, netdev")
      ->transform(CLI::CheckedTransformer(sources).description("auto|netlink|sysfs|netdev"));
  app->add_option("--clock", words->clock,
                  "read this node's clocks and compare them with those of the run's other nodes (default: auto)")
      ->type_name("auto|off");
  app->add_option("--clock-port", words->clock_ports,
                  "UDP ports to take up to five of; a range should have five times as many as jobs share a node "
                  "(default: any)")
      ->type_name("LO-HI");
  app->add_option("--clock-interface", options->clock_interface,
                  "where other nodes reach this one (default: what NCCL_SOCKET_IFNAME names, or the default route's)");
  app->add_option("--clock-meet", options->clock_meet,
                  "with --probe: stay six seconds, and ask the nodes that were started with this folder too");
  app->add_option("--sysfs-root", options->nic.sysfs_root, "the system's /sys, where a container hides it");
  app->add_option("--gpu-probe", options->gpu_probe, "jaxprof-probe (default: beside this program)");
  app->add_option("--cpu", words->cpu, "the processor to run on, or any (default: the last that is allowed)");
}

Status check(const Options& options, const Words& words) {
  const auto usage = [](const std::string& what) {
    return fail(ErrorCode::kUsage, what + " (--help lists the options)");
  };
  const int modes = int{!options.run_state.empty()} + int{!options.output.empty()} + int{words.is_probe};
  if (modes != 1)
    return usage(modes == 0 ? "one of --run-state, --out and --probe is needed"
                            : "--run-state, --out and --probe exclude each other");
  if (!options.run_state.empty() && (options.node_folder.empty() || options.identity.run.empty() ||
                                     options.identity.host.empty() || options.identity.boot_id.empty())) {
    return usage("--run-state needs --node-folder, --run, --host and --boot-id");
  }
  if (!words.duration.empty() && options.output.empty()) return usage("--for needs --out");
  if (words.clock != "auto" && words.clock != "off")
    return usage("--clock: " + words.clock + " is neither auto nor off");
  if (!options.clock_meet.empty() && (!words.is_probe || words.clock == "off")) {
    return usage("--clock-meet needs --probe, and clocks");
  }
  return {};
}

Status read_words(const Words& words, Options* options) {
  if (!words.duration.empty()) {
    const auto length = duration_ns(words.duration);
    if (!length) return fail(ErrorCode::kUsage, "--for " + words.duration + " is no time such as 10s, 5m or 2h");
    options->for_ns = *length;
  }
  if (!words.cpu.empty()) {
    options->cpu = processor(words.cpu);
    if (!options->cpu)
      return fail(ErrorCode::kUsage, "--cpu " + words.cpu + " is no number of a processor, and not any");
  }
  options->has_clock = words.clock == "auto";
  if (!words.clock_ports.empty()) {
    const auto span = parse_port_span(words.clock_ports);
    if (!span) {
      return fail(ErrorCode::kUsage, "--clock-port " + words.clock_ports + " is no range of ports such as 40000-40099");
    }
    options->clock_ports = {span->low, span->high};
  }
  return {};
}

}  // namespace

Result<Options> parse_options(std::vector<std::string> arguments) {
  Options options;
  Words words;
  CLI::App app(
      "Samples the counters of a node's network ports and the values of its GPUs, for a run (--run-state) or alone\n"
      "(--out), or says what there is (--probe). For a run it also compares the node's clock with other nodes'.\n"
      "jaxprof-exec starts it for a run.",
      "jaxprof-netsampler");
  app.set_version_flag("--version", "jaxprof " JAXPROF_VERSION);
  add_options(&app, &options, &words);
  app.footer(
      "Exit status: 0 done, also if another one observes the node for the run; 2 usage; 5 output not written; 6 the\n"
      "node's folder cannot be locked.");
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    options.mode = Mode::kText;
    options.text = app.help();
    return options;
  } catch (const CLI::CallForVersion&) {
    options.mode = Mode::kText;
    options.text = app.version() + "\n";
    return options;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + " (--help lists the options)");
  }
  if (auto status = check(options, words); !status) return tl::unexpected(std::move(status.error()));
  if (auto status = read_words(words, &options); !status) return tl::unexpected(std::move(status.error()));
  options.mode = words.is_probe ? Mode::kProbe : options.output.empty() ? Mode::kRun : Mode::kFile;
  for (std::string* path :
       {&options.run_state, &options.node_folder, &options.output, &options.gpu_probe, &options.clock_meet}) {
    make_absolute(path);
  }
  make_absolute(&options.nic.sysfs_root);
  return options;
}

}  // namespace jaxprof::netsampler
