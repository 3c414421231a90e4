// HDF5 left to itself prints its error stack to stderr, loads filter plugins with dlopen (which aborts a static
// program), and refuses to open a file on file systems without locks. This turns the first two off, makes the third a
// matter of best effort, and turns the error stack into one phrase for our own messages.
#pragma once

#include <string>

#include "merge/runfile/hdf5_handle.h"

namespace jaxprof::runfile {

// Once per thread that calls HDF5, before its first call; cheap to repeat.
void prepare_hdf5();

// What made the last HDF5 call of this thread fail, innermost cause first: "no space left on device".
std::string hdf5_cause();

// File access properties for both directions: format between 1.8 and 1.10, locks only where they work.
Handle file_access();

}  // namespace jaxprof::runfile
