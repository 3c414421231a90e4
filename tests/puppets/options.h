// The puppet's command line: what to call, how often, on which communicators, who is late, what of the profiler's
// interfaces to use and how to end. Parsing is strict: an unknown word is an error, never a guess.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/puppets/call_settings.h"
#include "tests/puppets/nccl_types.h"

namespace jaxprof::puppets {

enum class Operation : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAlltoAll,
  kGather,
  kScatter,
  kSendRecv,  // a ring: a group of one Send and one Recv
  kGroup,     // a group of AllReduces
};

struct Lateness {
  int rank;
  std::int64_t delay_ns;
  int every = 1;  // before each `every`-th call of that rank
};

// The link of `rank` to the network is slow now and then: whoever takes part in a collective with it is held up.
struct SlowLink {
  int rank;
  std::int64_t delay_ns;
  int every = 1;  // in each `every`-th call of a function on a communicator
};

// What is done to the profiler beside the calls (hazards.h).
struct HazardName {
  const char* option;
  unsigned bit;
};
inline constexpr unsigned kForeign = 1, kNullContext = 2, kStrays = 4, kMask = 8, kLate = 16, kReload = 32, kFork = 64,
                          kFlood = 128;
inline constexpr std::array<HazardName, 8> kHazards{{{"foreign", kForeign},
                                                     {"null-context", kNullContext},
                                                     {"strays", kStrays},
                                                     {"mask", kMask},
                                                     {"late", kLate},
                                                     {"reload", kReload},
                                                     {"fork", kFork},
                                                     {"flood", kFlood}}};

struct Options {
  std::vector<Operation> operations{Operation::kAllReduce};
  std::vector<std::size_t> sizes_bytes{1U << 10U, 64U << 10U, 1U << 20U};  // count x type size, per call
  int n_iterations = 10;
  int n_splits = 0;    // sub-communicators besides the world
  int n_threads = 1;   // user threads, each with communicators of its own
  int group_size = 4;  // AllReduces in a kGroup
  int root = 0;
  int ranks_per_node = 0;  // 0: the real nodes
  const DataType* type = find_option(kDataTypes, "float32");
  const Reduction* reduction = find_option(kReductions, "sum");
  std::optional<Lateness> late;
  std::optional<SlowLink> slow;
  std::int64_t work_ns = 0;  // what every rank does before each iteration: it sleeps
  std::string log_template;
  int api_version = 5;  // of the profiler interface; it tells the release of NCCL
  CallSettings how;     // carrier of collectives, launching thread, user tag
  int n_replays = 0;    // > 0: every operation goes into a CUDA graph, which is launched so often
  unsigned hazards = 0;
  std::string comm_name;  // "": none
  bool uses_plugin = true;
  bool uses_nvtx = true;
  bool synchronizes_each_call = true;
  int exit_code = 0;
  std::uint64_t crash_after_calls = 0;  // 0: never
  int crash_rank = -1;                  // -1: every rank
  bool wants_help = false;
};

// NCCL up to 2.24, which version 2 stands for, names no communicator in its NVTX payloads.
constexpr bool has_comms_in_nvtx(int api_version) {
  return api_version > 2;
}

// The usage text.
std::string usage();

// nullopt and `error` set if the command line is wrong.
std::optional<Options> parse_options(int argc, char** argv, std::string* error);

// "64K" is 65536; K, M, G are powers of 1024.
std::optional<std::size_t> parse_size(std::string_view text);

}  // namespace jaxprof::puppets
