// A small run with every kind of value in it: two nodes, four tasks of which one is unprofiled, three processes, one
// communicator, NVTX and NCCL rows, one partial instance, drops. Tests of the file and of the studies share it.
#pragma once

#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile::test {

RunTables sample_run();

// `n_rows` NVTX rows of one process, with values that a formula gives, to span several chunks.
RunTables long_run(std::size_t n_rows);

}  // namespace jaxprof::runfile::test
