// Writes a run that is in memory as a run file (run_file_stream.h takes one that is not). FORMAT.md says what it looks
// like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/base/result.h"
#include "merge/runfile/chunk_encoder.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

struct WriteOptions {
  bool may_replace = false;  // an existing file of that name
  unsigned n_threads = 0;    // that compress; 0: as many as the machine has
  Compression compression = Compression::kGzip;
  // Of encoded chunks, until the run is complete; what is more waits in a scratch file.
  std::size_t chunk_memory_bytes = std::size_t{32} << 20;
  std::string scratch_folder{};  // of that file; "": beside the run file
};

struct WrittenFile {
  std::uint64_t size_bytes;
};

// Checks `run` (check.h), writes `path`.part, syncs it and names it `path`. On failure (kOutputFailed, with the path
// and the cause) there is no file and no .part. The calling thread makes all HDF5 calls.
Result<WrittenFile> write_run_file(const RunTables& run, const std::string& path, const WriteOptions& options = {});

// Whether write_run_file could write `path`, by making its .part and removing it: kOutputFailed as there.
Status check_output(const std::string& path, bool may_replace);

}  // namespace jaxprof::runfile
