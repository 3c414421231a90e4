// F7: what each network port sent and received over time, with the collectives below.
#pragma once

#include "merge/report/figure.h"
#include "merge/study/study.h"

namespace jaxprof::report {

// `run` has the columns of network_wants; `bands` is collective_bands, `why_none` the reason of a study without ports.
Figure port_figure(const runfile::RunTables& run, study::Table bands, const std::string& why_none,
                   std::size_t most_cells);

}  // namespace jaxprof::report
