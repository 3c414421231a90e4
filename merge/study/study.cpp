// The list of studies.
#include "merge/study/study.h"

#include <array>

#include "agent/contract/rank_selection.h"
#include "merge/study/spread.h"
#include "merge/study/summary.h"

namespace jaxprof::study {

std::span<const Study> all_studies() {
  static constexpr std::array kStudies = {kSummary, kSpread};
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

}  // namespace jaxprof::study
