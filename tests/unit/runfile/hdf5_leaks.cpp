// HDF5 loses memory of its own where it meets a full disk or a damaged file. The leak checker would report that as
// ours; so it passes over HDF5's allocations, and RunFile.ClosesEverything counts what we would have left open.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:H5\n";
}
