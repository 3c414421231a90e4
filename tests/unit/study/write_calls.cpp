// write_calls PATH: a run of calls of three sizes and 300, 50 and 7 calls with scattered times, for numpy to judge.
#include <cstdio>
#include <random>

#include "merge/runfile/run_file_writer.h"
#include "tests/unit/study/calls.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::mt19937_64 random{2026};
  std::vector<jaxprof::study::test::Call> calls;
  const auto add = [&](int n, std::uint64_t size_bytes) {
    for (int i = 0; i < n; ++i) {
      calls.push_back({.size_bytes = size_bytes, .host_ns = static_cast<std::int64_t>(1000 + random() % 900'000)});
    }
  };
  add(300, 1024);
  add(50, 65'536);
  add(7, 1ULL << 30);
  const auto written = jaxprof::runfile::write_run_file(jaxprof::study::test::run_of({calls}), argv[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 5;
}
