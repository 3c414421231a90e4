// By names alone, whether the files exist or not: a refusal does not depend on when the merge was called.
#include "merge/program/output_name.h"

#include <filesystem>

#include "agent/contract/run_layout.h"

namespace jaxprof::merge {

Status check_output_name(const std::string& path) {
  const std::filesystem::path name = std::filesystem::path(path).filename();
  if (run_layout::is_spool(name)) {
    return fail(ErrorCode::kUsage, "--output " + path +
                                       ": this is the name of a spool, which a merge reads and never writes; choose "
                                       "another, such as run.h5");
  }
  // Resolved, because the working directory or a link may be the state folder.
  std::error_code error;
  const std::filesystem::path resolved =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  const std::string folder = resolved.parent_path().filename();
  if (!error && folder.starts_with(run_layout::kRunPrefix)) {
    return fail(ErrorCode::kUsage, "--output " + path + ": " + folder +
                                       " holds a run's task records, which a merge reads; choose another folder");
  }
  return {};
}

}  // namespace jaxprof::merge
