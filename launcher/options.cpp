#include "launcher/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "launcher/given_options.h"
#include "launcher/nsys_options.h"
#include "launcher/option_words.h"

namespace jaxprof::launcher {
namespace {

constexpr const char* kDescription =
    "Runs COMMAND as one task of a job and profiles it. Start it once a task:\n"
    "  srun jaxprof-exec -o prof/%q{SLURM_JOB_ID}/rank%r --ranks 0,8 -- python train.py";
constexpr const char* kFooter =
    "TEMPLATE is DIRECTORY/STEM. Macros: %q{VAR} %q{VAR:-default} %h (host) %p (pid) %r (rank) %l (local rank)\n"
    "%n (node) %J (job) %S (step) %%. DIRECTORY must be the same on all ranks: no %h %p %r %l %n there.\n"
    "LIST is like 0,8-15,0-1023:128 (:128 takes every 128th). All selecting options must hold.\n"
    "EXPRESSION is made of integers, rank, local_rank, node, world_size, environment variables,\n"
    "|| && ! == != < <= > >= + - * / % and parentheses.\n"
    "The rank is that of --rank-from, JAXPROF_RANK, srun, the innermost of torchrun, mpirun and other launchers, or a\n"
    "Kubernetes Indexed Job, the first that tells one; a process without one is named after host and pid.\n"
    "Variables: JAXPROF_OPTIONS (options read before the command line), JAXPROF_TMPDIR (as --spool),\n"
    "JAXPROF_AGENT and JAXPROF_NETSAMPLER (the agent library and the observer's program), JAXPROF_RANK, "
    "JAXPROF_WORLD_SIZE, JAXPROF_LOCAL_RANK, JAXPROF_RUN (a name "
    "that\n"
    "tells this run from others), JAXPROF_JOB_INDEX and JAXPROF_PODS_PER_JOB (ranks over the jobs of a JobSet).\n"
    "Exit status: the job's own. 125: refused; 126, 127: the command could not be started; 6: --check found a fault.";

// Options are declared here and nowhere else: those of what is recorded, and when.
void declare_recording(CLI::App& app, WindowWords& words) {
  app.add_option(
         "-t,--trace", words.trace,
         "what to record: cuda, nvtx, nccl, nic, gpu (default: these), sync, cuda-event, cuda-graph, cuda-hw, none; "
         "other names of nsys are ignored")
      ->type_name("KIND[,KIND]");
  app.add_option(
         "-y,--delay", words.delay_s,
         "the window opens so long after T0, when the run's first jaxprof-exec was there, on all ranks together")
      ->type_name("SECONDS");
  app.add_option("-d,--duration", words.duration_s, "the window closes so long after it opened; the job goes on")
      ->type_name("SECONDS");
  app.add_option("-c,--capture-range", words.capture_range,
                 "the window is from cudaProfilerStart to cudaProfilerStop, an NVTX range, or steps A to B of "
                 "--step-marker or of another range or XLA module")
      ->type_name("none|cudaProfilerApi|nvtx[:NAME[@DOMAIN]]|steps:A-B[@NAME[@DOMAIN]|@module=NAME]");
  app.add_option("--capture-range-end", words.capture_range_end,
                 "what the window's end does: nothing, close it for good (default), and end the job, or let it open "
                 "again, N times in all")
      ->type_name("none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N");
  app.add_option("-p,--nvtx-capture", words.nvtx_capture, "the range of --capture-range nvtx, as nsys has it")
      ->type_name("NAME[@DOMAIN]");
  app.add_option("--cupti", words.cupti,
                 "take CUPTI, of which a process has one, while the window is open (auto, default), from the start, or "
                 "never: no kernels then")
      ->type_name("auto|early|off");
  app.add_option("--buffer-size", words.buffer_size,
                 "most memory of a process for GPU records in flight (default: 64M)")
      ->type_name("SIZE");
}

// What one process a node reads of it.
void declare_observer(CLI::App& app, GivenOptions& given) {
  app.add_option("--nic-nodes", given.nic_nodes,
                 "read the counters of network ports on nodes with a traced rank, on all nodes of the run, or on none; "
                 "GPUs are read on nodes with a traced rank")
      ->type_name("traced|all|none")
      ->capture_default_str();
  app.add_option("--nic-hz", given.nic_hz,
                 "read them so often a second, 1 to 1000 (default: by driver, 10 for EFA, 50 for mlx5)")
      ->type_name("N");
  app.add_option("--nic-source", given.options.observer.nic_source,
                 "where they are read (default: auto, the first that has them)")
      ->type_name("auto|netlink|sysfs|netdev");
  app.add_option("--clock", given.clock,
                 "compare the clocks of the run's nodes all through it, by small packets (UDP) between one process of "
                 "each, and read each node's clocks; off: nodes are aligned by their wall clocks")
      ->type_name("auto|off")
      ->capture_default_str();
  app.add_option(
         "--clock-port", given.options.observer.clock_ports,
         "the UDP ports that may be taken for that, where a firewall lets only some pass: up to five a node; a range "
         "should have five times as many as jobs share a node (default: any)")
      ->type_name("LO-HI");
}

void declare(CLI::App& app, GivenOptions& given) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", "jaxprof-exec " JAXPROF_VERSION)->description("print the version and exit");
  app.add_option("-o,--output", given.options.output, "where to write: DIRECTORY/STEM")
      ->type_name("TEMPLATE")
      ->capture_default_str();
  app.add_option("-f,--force-overwrite", given.overwrite, "replace files of other, ended runs; `true` if none follows")
      ->type_name("[true|false]");
  app.add_option("--rank-from", given.rank_from,
                 "variables that hold the rank, the local rank and the number of ranks, here and in all processes of "
                 "the task; before all others")
      ->type_name("VAR[,LOCAL[,SIZE]]");
  app.add_option("--ranks", given.ranks, "trace these ranks")->type_name("LIST");
  app.add_option("--local-ranks", given.local_ranks, "trace these ranks of each node")->type_name("LIST");
  app.add_option("--nodes", given.nodes, "trace ranks of these nodes, by the launcher's number")->type_name("LIST");
  app.add_option("--sample-ranks", given.sample_ranks, "trace N ranks, evenly spread, rank 0 among them")
      ->type_name("N");
  app.add_option("--if", given.condition, "trace a rank if this holds for it")->type_name("EXPRESSION");
  app.add_flag("--inner-ranks", given.options.has_inner_ranks,
               "COMMAND starts ranks of its own, which decide for themselves (known of torchrun, accelerate, "
               "deepspeed, mpirun, srun)");
  app.add_option("--step-marker", given.step_marker,
                 "what marks a step of the program: its NVTX ranges NAME (in the default domain or in jaxprof), "
                 "NAME@DOMAIN or NAME@* (any domain), the executions of an XLA module, or nothing; a range's integer "
                 "payload is the step's number")
      ->type_name("NAME[@DOMAIN]|xla:MODULE|none")
      ->capture_default_str();
  declare_recording(app, given.window);
  declare_observer(app, given);
  app.add_option("-e,--env-var", given.environment,
                 "variables of the job, on all of its ranks; more than once if need be")
      ->type_name("NAME=VALUE[,NAME=VALUE]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--env", given.env,
                 "record which variables of NCCL, XLA, CUDA, MPI and their kind the command gets, and where Slurm put "
                 "it; never what looks like a secret; --dry-run prints them")
      ->type_name("auto|off")
      ->capture_default_str();
  app.add_option("--env-allow", given.env_allow,
                 "record these variables as well; * stands for any text; more than once if need be")
      ->type_name("NAME[,PREFIX_*]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--spool", given.options.spool_base,
                 "node-local folder to record into (default: JAXPROF_TMPDIR, SLURM_TMPDIR, TMPDIR, /tmp)")
      ->type_name("DIR");
  app.add_option("--spool-limit", given.spool_limit,
                 "stop recording when the task's spools have this size; 0: never (default: 4G, in memory 512M; "
                 "the rings of threads, 1M each, are not counted)")
      ->type_name("SIZE");
  app.add_option("--margin", given.margin_s,
                 "stop recording so long before the job's time limit, and publish while it runs on; 0: do not")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--on-conflict", given.on_conflict,
                 "a foreign profiler's hook: keep it and run unprofiled, or replace it")
      ->type_name("keep|replace")
      ->capture_default_str();
  app.add_option("--grace", given.grace_s, "most time to write the profile after the job's end")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--wait", given.wait,
                 "end with the command, or only after all processes that it leaves behind, which may take long")
      ->type_name("primary|all")
      ->capture_default_str();
  app.add_option("--publish-rate", given.publish_rate,
                 "bytes a second that a node copies to the run directory while the job runs; 0: only after its end")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_flag("--dry-run", given.is_dry_run, "print what would be done and exit");
  app.add_flag("--check", given.is_check, "try what a run needs, on every rank, print one table of faults and exit");
  app.add_flag("--strict", given.options.is_strict,
               "refuse to start a rank that cannot be profiled, or whose number is in doubt");
  app.add_flag("--quiet", given.options.is_quiet, "no lines on stderr but for faults");
}

// CLI11 2.1 has no way to say that words follow the options.
std::string help_text(const CLI::App& app) {
  std::string text = app.help();
  const std::string generated = "jaxprof-exec [OPTIONS]";
  if (const std::size_t at = text.find(generated); at != std::string::npos) {
    text.replace(at, generated.size(), kUsageLine);
  }
  return text;
}

// Takes options off the front of `words`, turns each into one word "--name=value" for CLI11, and stops at the command.
class OptionReader {
 public:
  OptionReader(CLI::App& app, const std::vector<std::string>& words, std::vector<std::string>* remarks)
      : app_(app), words_(words), remarks_(*remarks) {}

  // The index of the command's first word, or words.size().
  Result<std::size_t> read(std::vector<std::string>* normal) {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word == "--") return at_ + 1;
      if (word.size() < 2 || word[0] != '-') return at_;
      if (auto status = read_one(normal); !status) return tl::unexpected(std::move(status.error()));
    }
    return words_.size();
  }

 private:
  Status read_one(std::vector<std::string>* normal) {
    const std::string word = words_[at_++];
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    std::optional<std::string> value;
    if (name.size() < word.size()) {
      value = word.substr(name.size());
      if (value->starts_with('=')) value->erase(0, 1);
    }
    const CLI::Option* own = app_.get_option_no_throw(name);
    if (own != nullptr) return read_own(*own, name, std::move(value), normal);
    if (const NsysOption* option = find_nsys_option(word)) return read_nsys(*option, name, std::move(value));
    return fail(ErrorCode::kUsage, "no option " + name +
                                       "; --help lists them, and the command begins at the first "
                                       "word that is not an option");
  }

  Status read_own(const CLI::Option& option, const std::string& name, std::optional<std::string> value,
                  std::vector<std::string>* normal) {
    const std::string long_name = "--" + option.get_lnames().front();
    if (option.get_items_expected_min() == 0) {
      if (value) return fail(ErrorCode::kUsage, name + " takes no value, but was given '" + *value + "'");
      normal->push_back(long_name);
      return {};
    }
    if (long_name == "--force-overwrite" && !value) {
      const bool has_word = at_ < words_.size() && is_truth(words_[at_]);
      value = has_word ? words_[at_++] : "true";
    }
    if (auto status = take_value(name, &value); !status) return status;
    normal->push_back(long_name + "=" + *value);
    return {};
  }

  Status read_nsys(const NsysOption& option, const std::string& name, std::optional<std::string> value) {
    if (auto status = take_value(name, &value); !status) return status;
    if (!is_accepted(option, *value)) {
      const bool has_other = option.answer == NsysAnswer::kOnlyValue;
      return fail(ErrorCode::kUsage,
                  name + " " + *value + ": " + option.reason + "; leave it out" +
                      (has_other ? std::string(" or write ") + name + " " + option.accepted_value : std::string()));
    }
    remarks_.push_back(name + " has no effect: " + option.reason);
    return {};
  }

  Status take_value(const std::string& name, std::optional<std::string>* value) {
    if (!*value && at_ < words_.size() && words_[at_] != "--") *value = words_[at_++];
    if (!*value || (*value)->empty()) return fail(ErrorCode::kUsage, name + " needs a value");
    return {};
  }

  CLI::App& app_;
  const std::vector<std::string>& words_;
  std::vector<std::string>& remarks_;
  std::size_t at_ = 0;
};

// `jaxprof-exec profile -t cuda python …`, as nsys is started. A program of that name which takes options is started by
// its path.
bool is_pasted_profile(std::vector<std::string>::const_iterator word, std::vector<std::string>::const_iterator end) {
  return end - word >= 2 && *word == "profile" && (word + 1)->starts_with('-');
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments, const char* from_environment) {
  CLI::App app(kDescription, "jaxprof-exec");
  app.footer(kFooter);
  GivenOptions given;
  declare(app, given);

  std::vector<std::string> normal;
  if (from_environment != nullptr) {
    auto words = split_option_words(from_environment);
    if (!words) return tl::unexpected(std::move(words.error()).wrap("JAXPROF_OPTIONS"));
    auto end = OptionReader(app, *words, &given.options.remarks).read(&normal);
    if (!end) return tl::unexpected(std::move(end.error()).wrap("JAXPROF_OPTIONS"));
    if (*end < words->size()) return fail(ErrorCode::kUsage, "JAXPROF_OPTIONS: '" + (*words)[*end] + "' is no option");
  }
  auto begin = OptionReader(app, arguments, &given.options.remarks).read(&normal);
  if (!begin) return tl::unexpected(std::move(begin.error()));
  const auto command = arguments.begin() + static_cast<std::ptrdiff_t>(*begin);
  if (is_pasted_profile(command, arguments.end())) {
    return fail(ErrorCode::kUsage,
                "leave out the word `profile`: jaxprof-exec takes the options of `nsys profile` itself");
  }
  given.options.command.assign(command, arguments.end());
  given.options.option_words.assign(arguments.begin(), command);
  if (*begin > 0 && arguments[*begin - 1] == "--") given.options.option_words.pop_back();

  std::reverse(normal.begin(), normal.end());  // as CLI11 wants a vector
  try {
    app.parse(std::move(normal));
  } catch (const CLI::CallForHelp&) {
    given.options.mode = Mode::kHelp;
    given.options.text = help_text(app);
    return std::move(given.options);
  } catch (const CLI::CallForVersion&) {
    given.options.mode = Mode::kHelp;
    given.options.text = "jaxprof-exec " JAXPROF_VERSION "\n";
    return std::move(given.options);
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, error.what());
  }
  return convert_options(std::move(given));
}

}  // namespace jaxprof::launcher
