// The files of a process that records: memory file, registration log, and the spool with its first blocks, which say
// whose it is and place its stamps. Called once, by attach.
#pragma once

#include <cstddef>

#include "agent/contract/output_template.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof::collect {

// Creates them in the plan's spool directory, under the names that it puts into the process's slot. Null if all are
// there; else what could not be made, a literal, with errno (0: no system call failed).
const char* open_session_files(const RankIdentity& rank) noexcept;

// "SPOOL/NAME" in `path`; false if it does not fit.
inline constexpr std::size_t kSpoolPathBytes = kPathBytes + 64;
bool join_spool_path(char (&path)[kSpoolPathBytes], const char* name) noexcept;

}  // namespace jaxprof::collect
