#include "merge/assembly/assemble_run.h"

#include "agent/base/clocks.h"
#include "merge/assembly/clock_findings.h"
#include "merge/assembly/clock_tables.h"
#include "merge/assembly/counter_tables.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/event_tables.h"
#include "merge/assembly/job_tables.h"
#include "merge/assembly/node_findings.h"
#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {

AssembledRun assemble_run(rundir::FoundRun found) {
  const RunSources sources = open_sources(std::move(found));
  AssembledRun run;
  Diagnostics diagnostics(&run.tables);
  fill_job_tables(sources, &run.tables, &diagnostics);
  fill_clock_tables(sources, &run.tables);
  fill_event_tables(sources, &run.tables, &diagnostics);
  const NodeSamples samples = survey_samples(sources);
  fill_counter_tables(sources, samples, &run.tables);
  diagnose_nodes(sources, samples, run.tables, &diagnostics);
  audit_clocks(&run.tables);
  diagnose_clocks(sources, run.tables, &diagnostics);
  runfile::fill_empty_offsets(run.tables);
  shift_to_epoch(&run.tables);
  run.tables.attributes.created_unix_ns = clock_ns(CLOCK_REALTIME);
  run.is_partial = diagnostics.is_partial();
  return run;
}

}  // namespace jaxprof::assembly
