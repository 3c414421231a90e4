// Writes /strings/value. The writing thread only.
#pragma once

#include "agent/base/result.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::runfile {

Status write_strings(hid_t file, const StringTable& strings);

}  // namespace jaxprof::runfile
