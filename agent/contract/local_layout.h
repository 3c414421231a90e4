// Names in a task's spool directory, for the agent and for the wrapper. Agent-safe; run_layout.h is the
// whole picture.
#pragma once

#include <cstdint>
#include <cstring>

#include "agent/base/text.h"

namespace jaxprof {

enum class LocalFile { kSpool, kRings };

// Writes "slotN.pPID.jxspool" or "slotN.pPID.rings" to `name`.
inline void append_local_name(std::uint32_t slot, std::int32_t pid, LocalFile file, char* name,
                              std::size_t capacity) noexcept {
  TextBuffer out(name, capacity);
  out.append("slot");
  out.append_number(slot);
  out.append(".p");
  out.append_number(static_cast<std::uint64_t>(pid));
  out.append(file == LocalFile::kSpool ? ".jxspool" : ".rings");
}

inline constexpr const char* kUnattachedPrefix = "unattached.";

// Writes the folder "unattached.PID.ERRNO" beside the session page at `session_path` to `path`: what a process leaves
// that could not open the page. A folder, because making one takes no descriptor, which may be what the process lacks.
inline void append_unattached_path(const char* session_path, std::int32_t pid, int error, char* path,
                                   std::size_t capacity) noexcept {
  TextBuffer out(path, capacity);
  const char* slash = std::strrchr(session_path, '/');
  out.append(session_path, slash != nullptr ? static_cast<std::size_t>(slash + 1 - session_path) : 0);
  out.append(kUnattachedPrefix);
  out.append_number(static_cast<std::uint64_t>(pid));
  out.append('.');
  out.append_number(static_cast<std::uint64_t>(error));
}

}  // namespace jaxprof
