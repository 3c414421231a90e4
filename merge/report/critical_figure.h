// F10: on which rank, with which kind of work, the critical path was.
#pragma once

#include "merge/report/figure.h"

namespace jaxprof::report {

// Of the table of `critical --by member`, a row a piece of the path.
Figure critical_figure(const study::Table& pieces);

}  // namespace jaxprof::report
