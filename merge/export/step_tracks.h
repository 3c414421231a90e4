// Steps of one process as slices, as its program marked them: a track a thread that marks.
#pragma once

#include "merge/export/exported_process.h"

namespace jaxprof::exporting {

// Those that go on in the process's time, whether they begin in it or not.
void add_steps(const ExportedProcess& process);

}  // namespace jaxprof::exporting
