#include "tests/puppets/options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "tests/puppets/profiler_abi.h"

namespace jaxprof::puppets {
namespace {

struct OperationName {
  const char* option;
  Operation operation;
};
constexpr std::array<OperationName, 10> kOperations{{{"allreduce", Operation::kAllReduce},
                                                     {"allgather", Operation::kAllGather},
                                                     {"reducescatter", Operation::kReduceScatter},
                                                     {"broadcast", Operation::kBroadcast},
                                                     {"reduce", Operation::kReduce},
                                                     {"alltoall", Operation::kAlltoAll},
                                                     {"gather", Operation::kGather},
                                                     {"scatter", Operation::kScatter},
                                                     {"sendrecv", Operation::kSendRecv},
                                                     {"group", Operation::kGroup}}};

template <typename Integer>
std::optional<Integer> parse_integer(std::string_view text, Integer minimum = 0) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < minimum) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (true) {
    const auto at = text.find(separator);
    words.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return words;
    }
    text.remove_prefix(at + 1);
  }
}

bool set_integer(std::string_view value, int minimum, int* target) {
  const auto number = parse_integer<int>(value, minimum);
  if (number) {
    *target = *number;
  }
  return number.has_value();
}

bool set_operations(std::string_view value, Options* options) {
  options->operations.clear();
  for (const std::string_view word : split(value, ',')) {
    const OperationName* const found = find_option(kOperations, word);
    if (found == nullptr) {
      return false;
    }
    options->operations.push_back(found->operation);
  }
  return true;
}

bool set_sizes(std::string_view value, Options* options) {
  options->sizes_bytes.clear();
  for (const std::string_view word : split(value, ',')) {
    const auto size = parse_size(word);
    if (!size) {
      return false;
    }
    options->sizes_bytes.push_back(*size);
  }
  return true;
}

// RANK:MS[:N], for what a rank does to others: `Delay` is Lateness or SlowLink.
template <typename Delay>
bool set_delay(std::string_view value, std::optional<Delay>* target) {
  const auto words = split(value, ':');
  if (words.size() != 2 && words.size() != 3) {
    return false;
  }
  const auto rank = parse_integer<int>(words[0]);
  const auto milliseconds = parse_integer<std::int64_t>(words[1]);
  const auto every = words.size() == 3 ? parse_integer<int>(words[2], 1) : 1;
  if (!rank || !milliseconds || !every) {
    return false;
  }
  *target = Delay{*rank, *milliseconds * 1'000'000, *every};
  return true;
}

bool set_crash(std::string_view value, Options* options) {
  const auto words = split(value, ':');
  const auto calls = parse_integer<std::uint64_t>(words[0], 1);
  const auto rank = words.size() == 2 ? parse_integer<int>(words[1]) : -1;
  if (!calls || !rank || words.size() > 2) {
    return false;
  }
  options->crash_after_calls = *calls;
  options->crash_rank = *rank;
  return true;
}

// A version alone leaves both interfaces on.
bool set_api(std::string_view value, Options* options) {
  const auto words = split(value, ',');
  const bool has_interface =
      std::any_of(words.begin(), words.end(), [](std::string_view word) { return !parse_integer<int>(word); });
  if (has_interface) {
    options->uses_plugin = options->uses_nvtx = false;
  }
  for (const std::string_view word : words) {
    const auto version = parse_integer<int>(word, 1);
    if (word == "plugin") {
      options->uses_plugin = true;
    } else if (word == "nvtx") {
      options->uses_nvtx = true;
    } else if (version && *version <= profiler_abi::kNewestVersion) {
      options->api_version = *version;
    } else if (word != "none") {
      return false;
    }
  }
  return true;
}

template <typename Value>
struct Word {
  const char* option;
  Value value;
};
constexpr std::array<Word<LaunchThread>, 3> kLaunchThreads{
    {{"user", LaunchThread::kUser}, {"async", LaunchThread::kAsync}, {"callback", LaunchThread::kCallback}}};
constexpr std::array<Word<Carrier>, 3> kCarriers{
    {{"kernel", Carrier::kKernel}, {"symmetric", Carrier::kSymmetricKernel}, {"copy", Carrier::kCopyEngines}}};

template <typename Value, std::size_t n>
bool set_word(const std::array<Word<Value>, n>& words, std::string_view value, Value* target) {
  const Word<Value>* const found = find_option(words, value);
  if (found != nullptr) {
    *target = found->value;
  }
  return found != nullptr;
}

bool set_hazards(std::string_view value, Options* options) {
  for (const std::string_view word : split(value, ',')) {
    const HazardName* const found = find_option(kHazards, word);
    if (found == nullptr) {
      return false;
    }
    options->hazards |= found->bit;
  }
  return true;
}

// What the release cannot do. "" if nothing.
std::string contradiction(const Options& options) {
  const auto is_new = [](Operation operation) {
    return operation == Operation::kAlltoAll || operation == Operation::kGather || operation == Operation::kScatter;
  };
  if (options.api_version < 5 && std::any_of(options.operations.begin(), options.operations.end(), is_new)) {
    return "alltoall, gather and scatter came with NCCL 2.28, which is --api 5";
  }
  if (options.api_version < 4 && options.how.carrier == Carrier::kSymmetricKernel) {
    return "symmetric kernels came with NCCL 2.27, which is --api 4";
  }
  if (options.api_version < 5 && options.how.carrier == Carrier::kCopyEngines) {
    return "collectives by copy engines came with NCCL 2.28, which is --api 5";
  }
  return "";
}

// False if there is no such option or its value is wrong.
bool set(std::string_view name, std::string_view value, Options* options) {
  if (name == "--ops") return set_operations(value, options);
  if (name == "--sizes") return set_sizes(value, options);
  if (name == "--iterations") return set_integer(value, 0, &options->n_iterations);
  if (name == "--comms") return set_integer(value, 0, &options->n_splits);
  if (name == "--threads") return set_integer(value, 1, &options->n_threads);
  if (name == "--group-size") return set_integer(value, 1, &options->group_size);
  if (name == "--root") return set_integer(value, 0, &options->root);
  if (name == "--ranks-per-node") return set_integer(value, 1, &options->ranks_per_node);
  if (name == "--exit-code") return set_integer(value, 0, &options->exit_code);
  if (name == "--late") return set_delay(value, &options->late);
  if (name == "--slow") return set_delay(value, &options->slow);
  if (name == "--work") {
    const auto milliseconds = parse_integer<std::int64_t>(value);
    options->work_ns = milliseconds.value_or(0) * 1'000'000;
    return milliseconds.has_value();
  }
  if (name == "--crash-after") return set_crash(value, options);
  if (name == "--api") return set_api(value, options);
  if (name == "--launch") return set_word(kLaunchThreads, value, &options->how.launch);
  if (name == "--by") return set_word(kCarriers, value, &options->how.carrier);
  if (name == "--graph") return set_integer(value, 1, &options->n_replays);
  if (name == "--hazard") return set_hazards(value, options);
  if (name == "--user-tag") {
    const auto tag = parse_integer<std::uint64_t>(value);
    options->how.user_tag = tag.value_or(0);
    return tag.has_value();
  }
  if (name == "--comm-name") {
    options->comm_name = value;
    return !value.empty();
  }
  if (name == "--log") {
    options->log_template = value;
    return !value.empty();
  }
  if (name == "--dtype") {
    options->type = find_option(kDataTypes, value);
    return options->type != nullptr;
  }
  if (name == "--redop") {
    options->reduction = find_option(kReductions, value);
    return options->reduction != nullptr;
  }
  if (name == "--sync") {
    options->synchronizes_each_call = value == "call";
    return value == "call" || value == "iteration";
  }
  return false;
}

}  // namespace

std::string usage() {
  return "usage: nccl_puppet [OPTION VALUE]...\n"
         "Runs MPI collectives and speaks to a profiler as NCCL does.\n"
         "  --ops LIST           of allreduce allgather reducescatter broadcast reduce alltoall gather scatter\n"
         "                       sendrecv (ring, one group) group (ncclGroupStart, AllReduces, ncclGroupEnd)\n"
         "  --sizes LIST         bytes a call, NCCL's per-rank convention; K, M, G (1K,64K,1M)\n"
         "  --iterations N       (10); each is one pass over communicators, operations and sizes\n"
         "  --comms K            K sub-communicators split from the world (0)\n"
         "  --threads N          user threads, each with communicators of its own (1)\n"
         "  --group-size K       AllReduces in one `group` (4)\n"
         "  --dtype TYPE         int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 bfloat16 (float32)\n"
         "  --redop OP           sum prod max min avg (sum)\n"
         "  --root RANK          root of rooted operations, modulo the communicator's size (0)\n"
         "  --late RANK:MS[:N]   RANK sleeps MS milliseconds before each (each N-th) of its calls\n"
         "  --slow RANK:MS[:N]   the network holds each (each N-th) collective of a kind with RANK for MS "
         "milliseconds\n"
         "  --work MS            every rank sleeps MS milliseconds before each iteration (0)\n"
         "  --sync call|iteration  wait for the transfer after each call or only after each iteration (call)\n"
         "  --ranks-per-node N   pretend nodes of N ranks\n"
         "  --api LIST           of plugin nvtx none (plugin,nvtx), and the profiler interface's version: 1 (NCCL "
         "2.23),\n"
         "                       2 (2.24), 3 (2.26), 4 (2.27), 5 (2.28), 6 (2.29), 7 (2.31) (5)\n"
         "  --launch THREAD      user; async: NCCL's own, as of non-blocking communicators; callback: CUDA's reports "
         "(user)\n"
         "  --by WHAT            kernel, symmetric (kernel) or copy (engines), for functions that can be (kernel)\n"
         "  --graph K            each operation goes into a CUDA graph, which is launched K times\n"
         "  --hazard LIST        of foreign null-context strays mask late reload fork flood; see README.md\n"
         "  --user-tag N         of every call, from version 7 on (0)\n"
         "  --comm-name NAME     of every communicator (none, as with XLA)\n"
         "  --log TEMPLATE       the puppet's own account; %r rank, %p process id, %h host\n"
         "  --exit-code N        exit status (0)\n"
         "  --crash-after N[:RANK]  SIGSEGV after N calls, on RANK only\n";
}

std::optional<std::size_t> parse_size(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
        shift = 10;
        break;
      case 'M':
        shift = 20;
        break;
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift > 0) {
    text.remove_suffix(1);
  }
  const auto number = parse_integer<std::size_t>(text);
  // MPI counts are int
  if (!number || *number > (std::size_t{std::numeric_limits<int>::max()} >> shift)) {
    return std::nullopt;
  }
  return *number << shift;
}

std::optional<Options> parse_options(int argc, char** argv, std::string* error) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help") {
      options.wants_help = true;
      return options;
    }
    const char* const value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr || !set(name, value, &options)) {
      *error = "bad option '" + name +
               (value == nullptr ? "' (no value)" : "' with value '" + std::string(value) + "'") + "; see --help";
      return std::nullopt;
    }
  }
  if (const std::string reason = contradiction(options); !reason.empty()) {
    *error = reason;
    return std::nullopt;
  }
  return options;
}

}  // namespace jaxprof::puppets
