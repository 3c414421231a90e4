// Which name in the run directory each process of a task writes to. The first process of a rank gets the rank's name,
// further ones HOST.PID behind it. A name is claimed before anything is copied, and then put into the process's slot,
// so that whoever goes on after the wrapper's death goes on with the same file.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "launcher/spool_source.h"

namespace jaxprof::launcher {

class NameClaims {
 public:
  // Takes over what the slots name already.
  explicit NameClaims(const SpoolSource& source);

  // The name for a process whose spool is `spool_path`: the one in its slot if that is still its own, else a new one,
  // which is put there. kOutputFailed if none can be had.
  Result<OutputClaim> claim_for(ProcessSlot& slot, const std::string& spool_path);

  // Gives back the task's own name if no process came to use it.
  void release_unused();

 private:
  std::optional<OutputClaim> claim_in_slot(const ProcessSlot& slot, const std::string& spool_path) const;
  Result<OutputClaim> new_claim(const ProcessSlot& slot);

  const SpoolSource& source_;
  std::optional<OutputClaim> unused_;
  std::set<std::string> seen_stems_;
};

}  // namespace jaxprof::launcher
