// F8: when each rank's GPUs computed and communicated.
#pragma once

#include "merge/report/figure.h"

namespace jaxprof::report {

// Of the table of utilmap, a row a rank and bin.
Figure util_figure(const study::Table& utilmap);

}  // namespace jaxprof::report
