#include "launcher/gpu_account.h"

#include <fmt/format.h>

#include <cstddef>

namespace jaxprof::launcher {

std::string describe_missing_gpus(const std::vector<TaskEnd>& ends) {
  std::size_t n_processes = 0, n_missing = 0, n_others = 0;
  std::string reason;
  for (const TaskEnd& end : ends) {
    for (const PublishedProcess& process : end.processes) {
      if (process.spool.empty() && process.kept.empty()) continue;
      ++n_processes;
      if (process.gpu_fault.empty()) continue;
      ++n_missing;
      if (reason.empty()) reason = process.gpu_fault;
      if (process.gpu_fault != reason) ++n_others;
    }
  }
  if (n_missing == 0) return {};
  std::string text = fmt::format("; GPU records are missing on {} of {} {}: {}", n_missing, n_processes,
                                 n_processes == 1 ? "process" : "processes", reason);
  if (n_others > 0) text += fmt::format(" ({} for other reasons)", n_others);
  return text;
}

}  // namespace jaxprof::launcher
