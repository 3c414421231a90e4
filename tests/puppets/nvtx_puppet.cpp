// An NVTX tool sees calls of every kind, from every thread, in programs that fork, exec and die. This program makes
// such calls in known numbers and prints, just before it ends, one JSON object a process image with what it made
// (nvtx_counts.h), which a test compares with what the tool kept. It needs no MPI and no GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/puppets/nvtx_scenarios.h"

namespace jaxprof::puppets {
namespace {

constexpr int kExitUsage = 2;

struct NvtxPuppetOptions {
  std::vector<const Scenario*> chosen;
  ScenarioSettings settings;
  std::string out_path;  // empty: standard output
  std::string exit_way = "return";
  bool forks = false;
  bool execs = false;
  int image = 0;  // 1 in the program that exec started
};

void print_usage() {
  std::puts(
      "usage: nvtx_puppet [OPTION VALUE]...\n"
      "  --scenarios LIST  which to run, in this order (all)\n"
      "  --threads N       threads of the scenarios that have several (4)\n"
      "  --burst N         ranges a thread in `burst` (120000)\n"
      "  --fork yes        a forked child goes on to emit (domain `child`)\n"
      "  --exec yes        at the end the process becomes a new image that emits (domain `image 1`)\n"
      "  --exit WAY        return, exit, _exit, abort or kill (return)\n"
      "  --out FILE        the JSON lines go to FILE, appended, instead of standard output\n"
      "scenarios:");
  for (const Scenario& scenario : scenarios()) {
    std::printf("  %-16s  %s\n", scenario.name, scenario.text);
  }
}

bool set_scenarios(std::string_view list, NvtxPuppetOptions* options) {
  options->chosen.clear();
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(word.size() == list.size() ? word.size() : word.size() + 1);
    const Scenario* found = nullptr;
    for (const Scenario& scenario : scenarios()) {
      found = word == scenario.name ? &scenario : found;
    }
    if (found == nullptr) {
      return false;
    }
    options->chosen.push_back(found);
  }
  return true;
}

template <typename Integer>
bool set_number(std::string_view text, Integer* target) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *target);
  return error == std::errc{} && end == text.data() + text.size() && *target >= Integer{0};
}

bool set(std::string_view name, std::string_view value, NvtxPuppetOptions* options) {
  if (name == "--scenarios") return set_scenarios(value, options);
  if (name == "--threads") return set_number(value, &options->settings.n_threads);
  if (name == "--burst") return set_number(value, &options->settings.n_burst_ranges);
  if (name == "--image") return set_number(value, &options->image);
  if (name == "--fork") options->forks = value == "yes";
  if (name == "--exec") options->execs = value == "yes";
  if (name == "--fork" || name == "--exec") return value == "yes" || value == "no";
  if (name == "--out") {
    options->out_path = value;
    return !value.empty();
  }
  if (name == "--exit") {
    options->exit_way = value;
    return value == "return" || value == "exit" || value == "_exit" || value == "abort" || value == "kill";
  }
  return false;
}

// One write, so that the lines of a parent and a child stay whole.
void report(const NvtxCounts& counts, const NvtxPuppetOptions& options) {
  const std::string line = counts.json(options.image) + "\n";
  std::FILE* const file = options.out_path.empty() ? stdout : std::fopen(options.out_path.c_str(), "a");
  if (file == nullptr || std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0) {
    std::fputs("nvtx_puppet: the counts could not be written\n", stderr);
    std::_Exit(kExitUsage);
  }
}

[[noreturn]] void run_child(NvtxCounts& counts, const NvtxPuppetOptions& options) {
  counts.clear();
  emit_few(counts, "child");
  report(counts, options);
  std::_Exit(0);
}

void fork_child(NvtxCounts& counts, const NvtxPuppetOptions& options) {
  const pid_t child = fork();
  if (child == 0) {
    run_child(counts, options);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    std::fputs("nvtx_puppet: the forked child failed\n", stderr);
    std::_Exit(kExitUsage);
  }
  emit_few(counts, "parent after fork");
}

[[noreturn]] void become_new_image(const NvtxPuppetOptions& options) {
  std::vector<std::string> words{"nvtx_puppet", "--image", "1", "--exit", options.exit_way};
  if (!options.out_path.empty()) {
    words.insert(words.end(), {"--out", options.out_path});
  }
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
  std::perror("nvtx_puppet: execv");
  std::_Exit(kExitUsage);
}

int end_by(const std::string& way) {
  if (way == "exit") std::exit(0);
  if (way == "_exit") std::_Exit(0);
  if (way == "abort") std::abort();
  if (way == "kill") kill(getpid(), SIGKILL);
  return 0;
}

}  // namespace
}  // namespace jaxprof::puppets

int main(int argc, char** argv) {
  using namespace jaxprof::puppets;
  NvtxPuppetOptions options;
  for (const Scenario& scenario : scenarios()) {
    options.chosen.push_back(&scenario);
  }
  for (int i = 1; i < argc; i += 2) {
    if (std::string_view(argv[i]) == "--help") {
      print_usage();
      return 0;
    }
    if (i + 1 == argc || !set(argv[i], argv[i + 1], &options)) {
      std::fprintf(stderr, "nvtx_puppet: bad option %s; see --help\n", argv[i]);
      return kExitUsage;
    }
  }
  NvtxCounts counts;
  if (options.image > 0) {
    emit_few(counts, "image 1");
  } else {
    for (const Scenario* const scenario : options.chosen) {
      scenario->run(counts, options.settings);
    }
    if (options.forks) {
      fork_child(counts, options);
    }
  }
  report(counts, options);
  if (options.execs) {
    become_new_image(options);
  }
  return end_by(options.exit_way);
}
