// A task's spool folder and where it is to go: what the wrapper knows of its own task, and what whoever collects after
// the wrapper's death reads from the start record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/contract/session_page.h"
#include "launcher/output_claim.h"

namespace jaxprof::launcher {

struct SpoolSource {
  SessionPage* page = nullptr;
  std::string spool_directory;
  std::string run_directory;
  std::string host;
  ClaimRules claim_rules;
  std::optional<OutputClaim> claim;  // of the name that the task took at its start
  // Does the slot's process still run?
  std::function<bool(const ProcessSlot&)> is_present;
  // When the task was killed, for one that comes long after; CLOCK_REALTIME.
  std::optional<std::int64_t> ended_realtime_ns;
};

}  // namespace jaxprof::launcher
