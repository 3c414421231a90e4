#include "launcher/launcher_words.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "launcher/option_words.h"

namespace jaxprof::launcher {
namespace {

using Names = std::span<const std::string_view>;

// How a launcher's options are written. Names are without dashes.
struct Syntax {
  std::string_view letters_with_value;  // "-n 4" and "-n4"
  std::string_view letters;             // may be joined: "-lu"
  Names with_value;                     // "--ntasks 4", "--ntasks=4"
  Names with_two_values;                // "--mca NAME VALUE"
  Names flags;                          // a value, if any, only behind '='
  bool has_long_names_with_one_dash;    // "-np 4": a word with one dash is a name, not letters
};

// srun(1), Slurm 22.05.
constexpr std::string_view kSrunValues[] = {"account",
                                            "begin",
                                            "chdir",
                                            "clusters",
                                            "comment",
                                            "constraint",
                                            "container",
                                            "core-spec",
                                            "cpu-bind",
                                            "cpu-freq",
                                            "cpus-per-gpu",
                                            "cpus-per-task",
                                            "dependency",
                                            "distribution",
                                            "epilog",
                                            "error",
                                            "exclude",
                                            "export",
                                            "gpu-bind",
                                            "gpus",
                                            "gpus-per-node",
                                            "gpus-per-task",
                                            "gres",
                                            "hint",
                                            "input",
                                            "jobid",
                                            "job-name",
                                            "licenses",
                                            "mail-type",
                                            "mail-user",
                                            "mem",
                                            "mem-bind",
                                            "mem-per-cpu",
                                            "mem-per-gpu",
                                            "mpi",
                                            "network",
                                            "nodefile",
                                            "nodelist",
                                            "nodes",
                                            "ntasks",
                                            "ntasks-per-core",
                                            "ntasks-per-gpu",
                                            "ntasks-per-node",
                                            "ntasks-per-socket",
                                            "output",
                                            "partition",
                                            "profile",
                                            "prolog",
                                            "qos",
                                            "relative",
                                            "reservation",
                                            "signal",
                                            "slurmd-debug",
                                            "sockets-per-node",
                                            "task-epilog",
                                            "task-prolog",
                                            "threads",
                                            "threads-per-core",
                                            "time",
                                            "time-min",
                                            "tmp",
                                            "wait",
                                            "wckey"};
constexpr std::string_view kSrunFlags[] = {
    "contiguous",   "disable-status", "exact",   "exclusive",  "immediate",         "kill-on-bad-exit",
    "label",        "nice",           "no-kill", "overcommit", "overlap",           "oversubscribe",
    "preserve-env", "propagate",      "pty",     "quiet",      "quit-on-interrupt", "spread-job",
    "unbuffered",   "use-min-nodes",  "verbose", "whole"};
// mpirun(1) of Open MPI 4 and 5, mpiexec.hydra -help of MPICH 4: where both have an option they agree on its values.
constexpr std::string_view kMpiValues[] = {"n",
                                           "np",
                                           "c",
                                           "N",
                                           "H",
                                           "host",
                                           "hosts",
                                           "hostfile",
                                           "machinefile",
                                           "f",
                                           "ppn",
                                           "perhost",
                                           "npernode",
                                           "npersocket",
                                           "x",
                                           "map-by",
                                           "bind-to",
                                           "rank-by",
                                           "wdir",
                                           "wd",
                                           "path",
                                           "prefix",
                                           "rf",
                                           "rankfile",
                                           "timeout",
                                           "stdin",
                                           "am",
                                           "tune",
                                           "cpu-set",
                                           "cpu-list",
                                           "launcher",
                                           "launcher-exec",
                                           "bootstrap",
                                           "rmk",
                                           "iface",
                                           "genvlist",
                                           "envlist",
                                           "output-filename",
                                           "default-hostfile",
                                           "output",
                                           "display",
                                           "outfile-pattern",
                                           "errfile-pattern"};
constexpr std::string_view kMpiPairs[] = {"mca", "gmca", "pmixmca", "prtemca", "genv", "env"};
constexpr std::string_view kMpiFlags[] = {"allow-run-as-root",
                                          "oversubscribe",
                                          "nooversubscribe",
                                          "tag-output",
                                          "timestamp-output",
                                          "report-bindings",
                                          "display-map",
                                          "display-allocation",
                                          "v",
                                          "q",
                                          "verbose",
                                          "quiet",
                                          "bycore",
                                          "bynode",
                                          "byslot",
                                          "use-hwthread-cpus",
                                          "merge-stderr-to-stdout",
                                          "genvall",
                                          "genvnone",
                                          "envall",
                                          "envnone",
                                          "l",
                                          "prepend-rank",
                                          "disable-recovery"};
constexpr std::string_view kFluxValues[] = {"nslots",     "nodes",   "ntasks",  "cores-per-task", "gpus-per-task",
                                            "time-limit", "queue",   "bank",    "setopt",         "setattr",
                                            "requires",   "env",     "output",  "error",          "input",
                                            "label-io",   "urgency", "job-name"};
constexpr std::string_view kFluxFlags[] = {"exclusive", "unbuffered", "verbose", "quiet", "wait"};

constexpr Syntax kSrun = {"AbBcCdDeFGiJLMmnNopqrStTwWx", "EHIkKlOQsuvXZ", kSrunValues, {}, kSrunFlags, false};
constexpr Syntax kMpi = {"", "", kMpiValues, kMpiPairs, kMpiFlags, true};
constexpr Syntax kAprun = {"adDeFjlLmnNpPrRSt", "bBCqTz", {}, {}, {}, false};
constexpr Syntax kJsrun = {"abcdeEfghklMnoprtUX", "i", {}, {}, {}, false};
constexpr Syntax kFlux = {"BcgnNoqSt", "luvxQ", kFluxValues, {}, kFluxFlags, false};

struct InnerLauncher {
  std::string_view program;
  std::string_view subcommand;  // "" if it has none
  const Syntax& syntax;
  const char* reach;  // what is profiled of the ranks that it starts
};

constexpr const char* kThisNode = "only ranks that it starts on this node are profiled";
constexpr const char* kNothing = "nothing that it starts is profiled";
constexpr InnerLauncher kLaunchers[] = {
    {"mpirun", "", kMpi, kThisNode},   {"mpiexec", "", kMpi, kThisNode}, {"prterun", "", kMpi, kThisNode},
    {"srun", "", kSrun, kNothing},     {"aprun", "", kAprun, kThisNode}, {"jsrun", "", kJsrun, kThisNode},
    {"flux", "run", kFlux, kThisNode},
};

bool contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::string_view kVariants[] = {".hydra", ".openmpi", ".mpich"};

const InnerLauncher* find_launcher(const std::vector<std::string>& command) {
  if (command.empty()) return nullptr;
  const std::string_view path = command[0];
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 == 0
  // Distributions that have several keep them apart by these endings.
  const std::size_t dot = name.find('.');
  const bool is_variant = dot != std::string_view::npos && contains(kVariants, name.substr(dot));
  const std::string_view base = is_variant ? name.substr(0, dot) : name;
  for (const InnerLauncher& one : kLaunchers) {
    if (one.program != base) continue;
    if (one.subcommand.empty() || (command.size() > 1 && command[1] == one.subcommand)) return &one;
  }
  return nullptr;
}

// How many words behind `word`, an option, belong to it.
std::optional<std::size_t> count_values(const Syntax& syntax, std::string_view word) {
  const bool is_long = word.starts_with("--") || syntax.has_long_names_with_one_dash;
  if (is_long) {
    const std::string_view name = word.substr(word.starts_with("--") ? 2 : 1);
    if (name.find('=') != std::string_view::npos || contains(syntax.flags, name)) return 0;
    if (contains(syntax.with_value, name)) return 1;
    if (contains(syntax.with_two_values, name)) return 2;
    return std::nullopt;
  }
  for (std::size_t at = 1; at < word.size(); ++at) {
    if (syntax.letters_with_value.find(word[at]) != std::string_view::npos) return at + 1 < word.size() ? 0 : 1;
    if (syntax.letters.find(word[at]) == std::string_view::npos) return std::nullopt;
    if (at + 1 < word.size() && word[at + 1] >= '0' && word[at + 1] <= '9') return 0;  // "-K1": an optional value
  }
  return 0;
}

// Long lines help nobody on a terminal.
std::string shortened(std::string text) {
  constexpr std::size_t kMostBytes = 400;
  if (text.size() > kMostBytes) text = text.substr(0, kMostBytes) + "...";
  return text;
}

}  // namespace

bool starts_ranks_on_nodes(const std::vector<std::string>& command) {
  return find_launcher(command) != nullptr;
}

std::optional<std::size_t> find_launched_program(const std::vector<std::string>& command) {
  const InnerLauncher* launcher = find_launcher(command);
  if (launcher == nullptr) return std::nullopt;
  // Several programs in one command, "mpirun -n 1 a : -n 3 b", each want a wrapper of their own.
  if (std::find(command.begin(), command.end(), ":") != command.end()) return std::nullopt;
  std::size_t at = launcher->subcommand.empty() ? 1 : 2;
  while (at < command.size() && command[at].size() > 1 && command[at][0] == '-') {
    if (command[at] == "--") return at + 1 < command.size() ? std::optional(at + 1) : std::nullopt;
    const auto values = count_values(launcher->syntax, command[at]);
    if (!values) return std::nullopt;
    at += 1 + *values;
  }
  return at < command.size() ? std::optional(at) : std::nullopt;
}

std::string advise_on_order(const std::vector<std::string>& command, const std::vector<std::string>& option_words) {
  const InnerLauncher* launcher = find_launcher(command);
  if (launcher == nullptr) return {};
  std::vector<std::string> ours = {"jaxprof-exec"};
  ours.insert(ours.end(), option_words.begin(), option_words.end());
  ours.push_back("--");
  std::string example;
  if (const auto program = find_launched_program(command)) {
    const auto split = command.begin() + static_cast<std::ptrdiff_t>(*program);
    std::vector<std::string> words(command.begin(), split);
    words.insert(words.end(), ours.begin(), ours.end());
    words.insert(words.end(), split, command.end());
    example = quote_words(words);
  } else {
    example = command[0] + " [its options] " + quote_words(ours) + " [program]";
  }
  return command[0] + " stands behind jaxprof-exec: " + launcher->reach +
         "; write instead: " + shortened(std::move(example));
}

}  // namespace jaxprof::launcher
