// spread --histogram: how many calls of a kind took how long, raw and net of waiting over the same bins.
#pragma once

#include "merge/study/call_kinds.h"
#include "merge/study/study.h"

namespace jaxprof::study {

inline constexpr std::size_t kBinsForPrograms = 100;
inline constexpr std::size_t kBinsForPeople = 20;

// At least one kind. Bins are of one width from the least value to the largest of both samples.
Table spread_histogram(const CallTimes& calls, const Scope& scope, const StudyOptions& options);

}  // namespace jaxprof::study
