// The figures of a report, F1 to F11 in order.
#pragma once

#include <vector>

#include "merge/report/answers.h"
#include "merge/report/figure.h"

namespace jaxprof::report {

// None of the maps has many more cells than this: a page has to stay small enough to be mailed.
inline constexpr std::size_t kMostCells = 250'000;

// From the studies' tables where those hold what is drawn, and besides from what they are computed of. A figure whose
// columns cannot be read has the reason.
std::vector<Figure> draw_figures(const runfile::RunFileReader& reader, const std::vector<Answer>& answers);

}  // namespace jaxprof::report
