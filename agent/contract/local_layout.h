// Names of the files in a task's spool directory, for the agent and for the wrapper. Agent-safe; run_layout.h is the
// whole picture.
#pragma once

#include <cstdint>

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

}  // namespace jaxprof
