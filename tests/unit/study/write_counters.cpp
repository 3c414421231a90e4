// write_counters PATH: a run with three EFA ports whose bytes and reading times scatter, for numpy to judge.
#include <cstdio>
#include <random>

#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"
#include "tests/unit/study/sampled_run.h"

int main(int argc, char** argv) {
  using jaxprof::runfile::CounterUnit;
  using jaxprof::study::test::Port;
  if (argc != 2) return 2;
  std::mt19937_64 random{2026};
  const auto counted = [&random] {
    std::vector<std::uint64_t> values = {random() % 1'000'000};
    for (int i = 0; i < 300; ++i) values.push_back(values.back() + random() % 1'000'000'000);
    return values;
  };
  std::vector<Port> ports;
  for (const char* name : {"rdmap0s6", "rdmap0s7", "rdmap0s8"}) {
    ports.push_back({0,
                     name,
                     "efa",
                     100,
                     false,
                     {{"tx_bytes", CounterUnit::kBytes, counted()}, {"rx_bytes", CounterUnit::kBytes, counted()}}});
  }
  jaxprof::runfile::RunTables run = jaxprof::study::test::sampled_run(1, ports);
  for (std::int64_t& time_ns : run.counters[0].time_ns) time_ns += static_cast<std::int64_t>(random() % 400'000'000);
  for (std::int64_t& read_ns : run.counters[0].read_ns) read_ns = static_cast<std::int64_t>(random() % 3000) * 1000;
  jaxprof::runfile::fill_empty_offsets(run);
  const auto written = jaxprof::runfile::write_run_file(run, argv[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 5;
}
