// HDF5 stamps what it makes with the time unless it is told not to, and a run file depends on the run alone: two merges
// of one run are the same bytes. So groups, datasets and types are made with the properties from here.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "merge/runfile/hdf5_handle.h"

namespace jaxprof::runfile {

// Creation properties of `kind` (H5P_DATASET_CREATE, …) without time stamps.
Handle timeless(hid_t kind);

// Makes the groups on the way to `path` ("/events/nccl" for "/events/nccl/seq") where they are not there yet.
// kOutputFailed with the group and the cause.
Status make_groups_above(hid_t file, const std::string& path);

}  // namespace jaxprof::runfile
