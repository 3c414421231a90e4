// Kernels, copies and sets of one process as slices: a track for each stream of each GPU.
#pragma once

#include "merge/export/exported_process.h"

namespace jaxprof::exporting {

// Without those of which no length is known. kInputUnreadable.
Status add_gpu_work(const ExportedProcess& process);

}  // namespace jaxprof::exporting
