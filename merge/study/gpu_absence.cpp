#include "merge/study/gpu_absence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "merge/runfile/rank_ranges.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

std::string reason_of(GpuMode mode, std::string_view note) {
  switch (mode) {
    case GpuMode::kShared:
    case GpuMode::kAlone:
      return note.empty() ? "CUPTI recorded, and told of none" : std::string(note);
    case GpuMode::kUnavailable:
      return "CUPTI was unavailable" + (note.empty() ? std::string() : ": " + std::string(note));
    case GpuMode::kNotAsked:
      return "GPUs were left out" + (note.empty() ? std::string() : " by " + std::string(note));
    default:
      return note.empty() ? "CUDA was not used" : std::string(note);
  }
}

}  // namespace

std::string why_no_gpu_rows(const RunTables& run, std::string_view what) {
  if (!is_asked_for(run, "cuda")) {
    return fmt::format("the run file has no {}: -t {} did not ask for them; add cuda to it", what,
                       run.attributes.trace);
  }
  std::map<std::string, std::vector<std::int32_t>> reasons;
  for (std::size_t i = 0; i < run.processes.gpu_mode.size(); ++i) {
    const auto reason = reason_of(run.processes.gpu_mode[i], run.strings.text(run.processes.gpu_note[i]));
    reasons[reason].push_back(run.processes.rank[i]);
  }
  std::string text = fmt::format("the run file has no {}", what);
  const char* separator = ": ";
  for (const auto& [reason, ranks] : reasons) {
    text += separator + (reasons.size() == 1 ? reason : fmt::format("{} ({})", reason, rank_ranges(ranks)));
    separator = "; ";
  }
  return text;
}

std::string why_none_fits(const StudyOptions& options, const std::string& scope_words, std::string_view what) {
  const std::string ranks = options.ranks.empty() ? "" : " of --ranks " + options.ranks;
  return fmt::format("none of the run file's {}{} began in {}", what, ranks, scope_words);
}

}  // namespace jaxprof::study
