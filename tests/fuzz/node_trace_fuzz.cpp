// What up to two observers of one node left, put together and checked as the writer of the run file checks it.
#include <algorithm>

#include "merge/assembly/assemble_run.h"
#include "merge/runfile/check.h"
#include "tests/fuzz/planted_fault.h"
#include "tests/fuzz/spool_recipe.h"

using namespace jaxprof;

namespace {

void check_counters(const runfile::RunTables& run) {
  for (const runfile::CounterTable& table : run.counters) {
    for (const std::int64_t time_ns : table.time_ns) fuzz::demand(time_ns >= 0, "no time lies before the epoch");
    for (std::size_t i = 1; i < table.columns.size(); ++i) {
      fuzz::demand(table.columns[i - 1].name < table.columns[i].name, "each counter is one column");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  // The first two bytes say how much is the first spool's.
  const std::size_t first = std::min(bytes[0] | std::size_t{bytes[1]} << 8, size - 2);
  const std::span<const std::uint8_t> rest(bytes + 2, size - 2);
  const fuzz::MemoryPath a(fuzz::spool_of(rest.first(first)));
  const fuzz::MemoryPath b(fuzz::spool_of(rest.subspan(first)));
  rundir::FoundRun run;
  run.run_id = "7.0.0";
  run.node_spools = {a.path(), b.path()};
  const assembly::AssembledRun assembled = assembly::assemble_run(run);
  const runfile::RunTables& tables = assembled.tables;
  fuzz::plant_fault(!tables.observers.segment.empty() && tables.observers.segment[0] > 0);
  const auto checked = runfile::check_run(tables, runfile::Extent::kWhole, runfile::table_rows(tables));
  fuzz::demand(checked.has_value(), checked ? "" : checked.error().message.c_str());
  check_counters(tables);
  return 0;
}
