// What `jaxprof doctor` prints of a node: a row for each port and GPU, one for the clock, and one for each reason why
// something is not there or is read in a worse way. The words come from `jaxprof-netsampler --probe`; here they are
// only put into order, and it is decided whether the node is fit. Pure.
#pragma once

#include <string>

#include "agent/base/result.h"

namespace jaxprof::launcher {

struct NodeReport {
  std::string text;     // rows, each with its end of line
  bool is_fit = false;  // all that is there can be recorded; what is not there is no fault
};

// `probe` is the JSON document. kNodeNotReady if it is none.
Result<NodeReport> report_node(const std::string& probe);

}  // namespace jaxprof::launcher
