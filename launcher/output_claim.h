// Two ranks that write one file lose each other's data, and at the end of a long job. So a name is claimed at the
// start: by making STEM.jxspool.part with O_EXCL, which the copy then grows into. A name that is taken is left alone,
// unless the user allows to replace files (-f) and the file is of another run, which has ended.
#pragma once

#include <optional>
#include <string>

#include "agent/base/result.h"

namespace jaxprof::launcher {

struct OutputClaim {
  std::string stem;
  bool is_replacing = false;  // a finished file of the name is to be replaced at the end
};

// Who claims, and what it may do.
struct ClaimRules {
  std::string run_id;
  std::string boot_id;
  bool can_replace_files = false;
};

// None: the name is taken. kOutputFailed: it could not be tried.
Result<std::optional<OutputClaim>> claim_output(const std::string& directory, const std::string& stem,
                                                const ClaimRules& rules);

// True if a task that started in the run below `state_directory` claimed STEM: then another rank of the run has it.
bool is_stem_of_run(const std::string& state_directory, const std::string& stem);

// Removes the claim's file. Only for claims that nothing was published to.
void release_claim(const std::string& directory, const OutputClaim& claim);

}  // namespace jaxprof::launcher
