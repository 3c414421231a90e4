// Where the agent library is: beside this program, so that a tree that was copied somewhere works from there.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/env.h"
#include "agent/base/result.h"

namespace jaxprof::launcher {

inline constexpr std::string_view kAgentFileName = "libjaxprof-agent.so";

// Absolute path of the agent for a program that lies at `program_path`: JAXPROF_AGENT, else ../lib/jaxprof/ (installed)
// or ../lib/ (build tree). kNodeNotReady if it is not there, not readable or no 64-bit ELF file: NVTX and NCCL would
// go on in silence without it.
Result<std::string> find_agent_library(const std::string& program_path, const Env& env);

// Path of the running program, from /proc/self/exe.
std::string own_program_path();

}  // namespace jaxprof::launcher
