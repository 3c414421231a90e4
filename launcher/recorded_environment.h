// A rank that is slow because NCCL_ALGO is set on it alone looks like a broken network card. So the start record of a
// task holds those variables that its command gets and that steer what it does: of NCCL, XLA, CUDA, network libraries,
// MPI, threads, the loader and Python, and where Slurm placed it. An environment holds secrets too, so nothing is
// recorded but what a list allows, and of that nothing whose name looks like a secret's, whoever allowed it.
//
// Functions from values to values.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::launcher {

inline constexpr std::size_t kMaxRecordedValueBytes = 4096;
inline constexpr std::size_t kMaxRecordedBytes = 64 << 10;  // of a task's names and values together

struct RecordedEnvironment {
  std::map<std::string, std::string> variables;
  std::vector<std::string> withheld;  // names that are allowed, and look like a secret's
  std::size_t n_dropped = 0;          // variables that did not fit into kMaxRecordedBytes; the last by name
};

// Of `environment` ("NAME=value" each; of several with one name the first, as getenv has it) what may be recorded:
// what the built-in list or one of `added` patterns allows. A value longer than kMaxRecordedValueBytes is cut there and
// ends with its length and a hash of all of it, so that values which differ behind the cut still do. User and password
// in front of an URL's host become "…".
RecordedEnvironment record_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& added = {});

// True if a value under that name is recorded by nobody's wish: it has a word such as TOKEN, SECRET, PASSWORD, KEY or
// URI in it and is none of the few that are known to be harmless (NCCL_IB_PKEY).
bool looks_secret(std::string_view name);

// The patterns of --env-allow, "NAME,PREFIX_*": letters, digits, '_', '*' (any text) and '?' (any character), beginning
// with a letter or '_'. kUsage with the pattern that is none.
Result<std::vector<std::string>> parse_environment_patterns(const std::string& text);

}  // namespace jaxprof::launcher
