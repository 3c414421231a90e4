// write_sample PATH: writes the sample run, for the tests that read it with other people's programs.
#include <cstdio>

#include "merge/runfile/run_file_writer.h"
#include "tests/unit/runfile/sample_run.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto written =
      jaxprof::runfile::write_run_file(jaxprof::runfile::test::sample_run(), argv[1], {.may_replace = true});
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 5;
}
