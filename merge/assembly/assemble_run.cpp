#include "merge/assembly/assemble_run.h"

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "merge/assembly/clock_findings.h"
#include "merge/assembly/clock_tables.h"
#include "merge/assembly/counter_tables.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/event_tables.h"
#include "merge/assembly/job_tables.h"
#include "merge/assembly/node_findings.h"
#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_epoch.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

constexpr std::size_t kCounterShare = 4;  // of the memory there is, beside what columns wait to be encoded

std::vector<std::size_t> all_processes(const RunSources& sources) {
  std::vector<std::size_t> processes(sources.processes.size());
  std::iota(processes.begin(), processes.end(), std::size_t{0});
  return processes;
}

Status assemble(const RunSources& sources, const Room& room, PartSource* parts, EventSink* sink, AssembledRun* run) {
  runfile::RunTables& tables = run->tables;
  Diagnostics diagnostics;
  const std::int64_t epoch_ns = epoch_of(sources);
  fill_job_tables(sources, &tables, &diagnostics);
  fill_clock_tables(sources, &tables);
  auto filled = fill_event_tables(sources, room, epoch_ns, parts, sink, &tables, &diagnostics);
  if (!filled) return filled;
  const NodeSamples samples = survey_samples(sources);
  const auto ports = fill_counter_tables(sources, samples, epoch_ns, room.budget_bytes / kCounterShare, sink, &tables);
  if (!ports) return tl::unexpected(ports.error());
  diagnose_nodes(sources, samples, tables, *ports, &diagnostics);
  diagnose_clocks(sources, tables, &diagnostics);
  runfile::fill_empty_offsets(tables);
  shift_to_epoch(epoch_ns, &tables);
  tables.attributes.created_unix_ns = end_of(sources);
  write_findings(diagnostics, &tables);
  run->is_partial = diagnostics.is_partial();
  return {};
}

}  // namespace

Result<AssembledRun> assemble_run(const RunSources& sources, const Room& room, PartSource* parts, EventSink* sink) {
  AssembledRun run;
  if (auto done = assemble(sources, room, parts, sink, &run); !done) return tl::unexpected(std::move(done.error()));
  return run;
}

Result<AssembledRun> assemble_run(rundir::FoundRun found, const Room& room, EventSink* sink) {
  const RunSources sources = open_sources(std::move(found));
  LocalParts parts(sources, all_processes(sources), room.n_threads, room.budget_bytes);
  return assemble_run(sources, room, &parts, sink);
}

AssembledRun assemble_run(rundir::FoundRun found) {
  const RunSources sources = open_sources(std::move(found));
  AssembledRun run;
  Room room;
  room.budget_bytes = std::numeric_limits<std::size_t>::max() / 2;  // nothing is written anywhere, so nothing fails
  LocalParts parts(sources, all_processes(sources), 1, room.budget_bytes);
  MemorySink sink(&run.tables);
  (void)assemble(sources, room, &parts, &sink, &run);
  return run;
}

}  // namespace jaxprof::assembly
