// How things of a run are called in a trace.
#pragma once

#include <cstdint>
#include <string>

#include "merge/runfile/run_tables.h"

namespace jaxprof::exporting {

// "rank 3 (n17, local rank 1, pid 4242)", with what is known of it.
std::string name_of_process(const runfile::RunTables& run, std::size_t process);
// "n17"; "node 3" without a name.
std::string name_of_node(const runfile::RunTables& run, std::uint32_t node);
// "GPU 0", by CUDA's number in its process; "GPU ?" if it is not known which.
std::string name_of_gpu(const runfile::RunTables& run, std::int32_t device);
// NCCL's name for it, or its hash; "?" if it is not known which.
std::string name_of_comm(const runfile::RunTables& run, std::uint32_t comm);

}  // namespace jaxprof::exporting
