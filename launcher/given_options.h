// The command line of jaxprof-exec between its two readings: what the parser took apart (options.cpp) is plain text
// still, and is here made into what it means, or refused. Functions from values to values; they know no parser.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

inline constexpr const char* kUsageLine = "jaxprof-exec [OPTIONS] [--] COMMAND [ARGUMENTS...]";

// As given, or the default. `options` holds what needs no look.
struct GivenOptions {
  Options options;
  std::string rank_from, ranks, local_ranks, nodes, condition, publish_rate = "64M";
  std::string sample_ranks, on_conflict = "keep", grace_s = "10", overwrite = "false", wait = "primary";
  std::string nic_nodes = "traced", nic_hz, clock = "auto";
  std::string spool_limit, margin_s = "60", step_marker = kDefaultStepMarker;
  std::vector<std::string> environment;  // of each --env-var
  std::string env = "auto";
  std::vector<std::string> env_allow;  // of each --env-allow
  WindowWords window;
  bool is_dry_run = false, is_check = false;
};

inline bool is_truth(const std::string& word) {
  return word == "true" || word == "false";
}

// kUsage with the option and its value where it cannot be meant.
Result<Options> convert_options(GivenOptions given);

}  // namespace jaxprof::launcher
