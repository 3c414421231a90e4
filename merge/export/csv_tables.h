// The tables of events of a run file as CSV, one file a table, for programs that read nothing else.
#pragma once

#include <cstdint>
#include <string>

#include "merge/runfile/run_file_reader.h"

namespace jaxprof::exporting {

struct WrittenTables {
  std::uint64_t n_files = 0;
  std::uint64_t n_rows = 0;
  std::uint64_t n_bytes = 0;
};

// Writes NVTX, NCCL, GPU tables, /steps, /collectives, /transfers and /nccl_work into `folder`, which is made if it
// does not exist; files of the same names are replaced. A chunk of one table is in memory at a time. kInputUnreadable,
// kOutputFailed.
Result<WrittenTables> write_csv(const runfile::RunFileReader& reader, const std::string& folder);

}  // namespace jaxprof::exporting
