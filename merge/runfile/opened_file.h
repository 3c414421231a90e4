// A run file that is sure to be one: HDF5, of our schema, of a version that this program knows, and complete.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

struct OpenedFile {
  Handle file;
  bool is_older = false;  // by a minor version than this program: it may lack what came later
  RunAttributes attributes;
  std::string tool_version;
  std::string schema_version;  // "1.0.0"
};

// kInputUnreadable says in one line, without the path, what the file is instead.
Result<OpenedFile> open_run_file(const std::string& path);

}  // namespace jaxprof::runfile
