// HDF5 loses memory of its own where it meets a full disk or a damaged file. The leak checker would report that as
// ours; so it passes over HDF5's allocations, and RunFile.ClosesEverything counts what we would have left open.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:H5\n";
}

#include <hdf5.h>

// Some tests call HDF5 themselves, perhaps before the run file's code does, which keeps HDF5's exit handler away: that
// one crashes after the test of a full disk. So it is kept away before any test runs.
[[maybe_unused]] static const herr_t exit_handler_is_away = H5dont_atexit();
