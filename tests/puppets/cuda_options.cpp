#include "tests/puppets/cuda_options.h"

#include <array>
#include <charconv>
#include <string_view>

namespace jaxprof::puppets {
namespace {

template <typename Value>
struct Word {
  const char* name;
  Value value;
};
constexpr std::array<Word<CudaWork>, 10> kWork{{{"kernel", CudaWork::kKernel},
                                                {"copy", CudaWork::kCopy},
                                                {"fill", CudaWork::kFill},
                                                {"host", CudaWork::kHost},
                                                {"graph", CudaWork::kGraph},
                                                {"capture", CudaWork::kCapture},
                                                {"event", CudaWork::kEvent},
                                                {"module", CudaWork::kModule},
                                                {"runtime", CudaWork::kRuntime},
                                                {"sync", CudaWork::kSync}}};
constexpr std::array<Word<CudaExit>, 7> kExits{{{"return", CudaExit::kReturn},
                                                {"exit", CudaExit::kExit},
                                                {"_exit", CudaExit::kUnderscoreExit},
                                                {"abort", CudaExit::kAbort},
                                                {"term", CudaExit::kTerm},
                                                {"kill", CudaExit::kKill},
                                                {"segv", CudaExit::kSegv}}};
constexpr std::array<Word<CudaRival>, 5> kRivals{{{"none", CudaRival::kNone},
                                                  {"subscribe", CudaRival::kSubscribe},
                                                  {"late", CudaRival::kLate},
                                                  {"register", CudaRival::kRegister},
                                                  {"multiple", CudaRival::kMultiple}}};

template <typename Value, std::size_t kCount>
bool find_word(const std::array<Word<Value>, kCount>& words, std::string_view text, Value* value) {
  for (const auto& word : words) {
    if (text == word.name) {
      *value = word.value;
      return true;
    }
  }
  return false;
}

template <typename Integer>
bool parse_number(std::string_view text, Integer minimum, Integer* value) {
  Integer number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < minimum) return false;
  *value = number;
  return true;
}

template <typename Each>
bool each_part(std::string_view text, const Each& each) {
  for (;;) {
    const auto at = text.find(',');
    if (!each(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

// "kernel:4" and the like; a word alone is once.
bool parse_work(std::string_view text, std::vector<CudaTask>* tasks) {
  tasks->clear();
  return each_part(text, [tasks](std::string_view part) {
    CudaTask task{CudaWork::kKernel, 1};
    const auto colon = part.find(':');
    if (colon != std::string_view::npos && !parse_number(part.substr(colon + 1), 1, &task.count)) return false;
    if (!find_word(kWork, part.substr(0, colon), &task.work)) return false;
    tasks->push_back(task);
    return true;
  });
}

// "2-4,7-7"
bool parse_ranges(std::string_view text, std::vector<std::pair<int, int>>* ranges) {
  return each_part(text, [ranges](std::string_view part) {
    const auto dash = part.find('-');
    std::pair<int, int> range;
    if (dash == std::string_view::npos || !parse_number(part.substr(0, dash), 0, &range.first)) return false;
    if (!parse_number(part.substr(dash + 1), range.first, &range.second)) return false;
    ranges->push_back(range);
    return true;
  });
}

bool set_option(std::string_view name, std::string_view value, CudaOptions* options) {
  if (name == "--work") return parse_work(value, &options->tasks);
  if (name == "--steps") return parse_number(value, 0, &options->n_steps);
  if (name == "--devices") return parse_number(value, 1, &options->n_devices);
  if (name == "--threads") return parse_number(value, 1, &options->n_threads);
  if (name == "--streams") return parse_number(value, 1, &options->n_streams);
  if (name == "--kernel-us") return parse_number(value, std::int64_t{0}, &options->kernel_us);
  if (name == "--period-us") return parse_number(value, std::int64_t{0}, &options->period_us);
  if (name == "--bytes") return parse_number(value, std::size_t{4}, &options->bytes);
  if (name == "--profiler") return parse_ranges(value, &options->profiler_ranges);
  if (name == "--fork-at") return parse_number(value, 0, &options->fork_at);
  if (name == "--rival") return find_word(kRivals, value, &options->rival);
  if (name == "--linger-ms") return parse_number(value, std::int64_t{0}, &options->linger_ms);
  if (name == "--exit") return find_word(kExits, value, &options->exit);
  if (name == "--exit-code") return parse_number(value, 0, &options->exit_code);
  if (name == "--load") {
    return each_part(value, [options](std::string_view part) {
      options->libraries.emplace_back(part);
      return true;
    });
  }
  if (name == "--log") options->log_template = value;
  return name == "--log";
}

}  // namespace

std::string cuda_usage() {
  return "usage: cuda_puppet [OPTION VALUE]...\n"
         "  --work LIST       per step, thread and stream: kernel, copy, fill, host, graph, capture, event, module,\n"
         "                    runtime, sync, each with :N for how often or how many (kernel:4)\n"
         "  --steps N         steps (10)            --period-us N     sleep between them (0)\n"
         "  --devices N       devices (1)           --threads N       threads, a device each in turn (1)\n"
         "  --streams N       streams a thread (1)  --kernel-us N     duration of a kernel (100)\n"
         "  --bytes N         of a copy (65536)     --profiler A-B,.. cudaProfilerStart and Stop around these steps\n"
         "  --no-bodies       kernels do not stamp themselves; the engine's account is logged\n"
         "  --no-nvtx         no range 'step' in domain 'puppet'\n"
         "  --fork-at N       before step N a child is forked, which calls CUDA and exits\n"
         "  --rival WHO       another user of CUPTI: subscribe, late, register, multiple\n"
         "  --load FILE,..    libraries, loaded before all\n"
         "  --linger-ms N     before the end        --exit HOW        return, exit, _exit, abort, term, kill, segv\n"
         "  --exit-code N     of the first three    --log FILE        %r rank, %p process, %h host\n";
}

std::optional<CudaOptions> parse_cuda_options(int argc, char** argv, std::string* error) {
  CudaOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help") {
      options.wants_help = true;
    } else if (name == "--no-bodies") {
      options.has_bodies = false;
    } else if (name == "--no-nvtx") {
      options.uses_nvtx = false;
    } else if (i + 1 == argc || !set_option(name, argv[i + 1], &options)) {
      *error = "cuda_puppet: cannot use " + std::string(name) + (i + 1 == argc ? "" : " " + std::string(argv[i + 1]));
      return std::nullopt;
    } else {
      ++i;
    }
  }
  return options;
}

}  // namespace jaxprof::puppets
