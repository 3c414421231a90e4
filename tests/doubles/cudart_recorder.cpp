// When does a program start and stop the CUDA profiler? This library stands in for the CUDA runtime, under its name,
// and writes the two calls as text lines (record_file.h) to the file that CUDART_RECORDER_FILE names. It has nothing
// else of the runtime's.
#include "tests/doubles/record_file.h"

namespace {

int record(const char* function) {
  static const auto file = jaxprof::doubles::RecordFile::from_environment("CUDART_RECORDER_FILE");
  file.write(jaxprof::doubles::RecordLine(function));
  return 0;  // cudaSuccess
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int cudaProfilerStart() {
  return record("cudaProfilerStart");
}
extern "C" __attribute__((visibility("default"))) int cudaProfilerStop() {
  return record("cudaProfilerStop");
}
