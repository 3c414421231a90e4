// The list of studies.
#include "merge/study/study.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "agent/contract/rank_selection.h"
#include "merge/runfile/rank_ranges.h"
#include "merge/runfile/word_list.h"
#include "merge/study/api.h"
#include "merge/study/audit.h"
#include "merge/study/breakdown.h"
#include "merge/study/clock.h"
#include "merge/study/critical.h"
#include "merge/study/diff.h"
#include "merge/study/env.h"
#include "merge/study/gaps.h"
#include "merge/study/kernels.h"
#include "merge/study/lateness.h"
#include "merge/study/memops.h"
#include "merge/study/nccl.h"
#include "merge/study/network.h"
#include "merge/study/nvtx.h"
#include "merge/study/overlap.h"
#include "merge/study/pace.h"
#include "merge/study/spread.h"
#include "merge/study/stragglers.h"
#include "merge/study/summary.h"
#include "merge/study/utilmap.h"
#include "merge/study/whatif.h"

namespace jaxprof::study {

std::span<const Study> all_studies() {
  static constexpr std::array kStudies = {kSummary, kSpread, kLateness, kStragglers, kBreakdown, kOverlap, kGaps,
                                          kUtilmap, kPace,   kCritical, kWhatif,     kKernels,   kMemops,  kApi,
                                          kNvtx,    kNccl,   kNetwork,  kClock,      kEnv,       kDiff,    kAudit};
  return kStudies;
}

const Study* find_study(std::string_view name) {
  for (const Study& study : all_studies()) {
    if (study.name == name) return &study;
  }
  return nullptr;
}

bool is_rank_wanted(std::int32_t rank, const StudyOptions& options) {
  if (options.ranks.empty()) return true;
  return rank >= 0 && number_list_contains(options.ranks.c_str(), static_cast<std::uint64_t>(rank));
}

Status check_ranks(const runfile::RunTables& run, const StudyOptions& options) {
  const std::vector<std::int32_t>& ranks = run.processes.rank;
  const auto is_wanted = [&options](std::int32_t rank) { return is_rank_wanted(rank, options); };
  if (options.ranks.empty() || std::any_of(ranks.begin(), ranks.end(), is_wanted)) return {};
  return fail(ErrorCode::kUsage, "--ranks " + options.ranks + ": the run file has none of these; it has " +
                                     (ranks.empty() ? "no ranks" : runfile::rank_ranges(ranks)));
}

bool is_asked_for(const runfile::RunTables& run, std::string_view kind) {
  constexpr std::string_view kBar = " | ";
  std::string_view lists = run.attributes.trace;
  if (lists.empty()) return true;
  for (;;) {
    const std::size_t bar = lists.find(kBar);
    if (runfile::has_word(lists.substr(0, bar), kind)) return true;
    if (bar == std::string_view::npos) return false;
    lists.remove_prefix(bar + kBar.size());
  }
}

}  // namespace jaxprof::study
