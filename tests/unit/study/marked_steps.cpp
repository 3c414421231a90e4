#include "tests/unit/study/marked_steps.h"

#include "merge/runfile/table_rows.h"

namespace jaxprof::study::test {

using namespace jaxprof::runfile;

RunTables run_with_steps(const std::vector<std::vector<MarkedStep>>& steps) {
  RunTables run;
  resize_rows(run.processes, steps.size());
  for (std::uint32_t process = 0; process < steps.size(); ++process) {
    run.processes.process[process] = process;
    run.processes.rank[process] = static_cast<std::int32_t>(process);
    run.processes.start_ns[process] = 0;
    run.processes.end_ns[process] = 10'000;
    add_steps(run, process, steps[process]);
  }
  return run;
}

void add_steps(RunTables& run, std::uint32_t process, const std::vector<MarkedStep>& steps) {
  for (const MarkedStep& marked : steps) {
    const std::size_t row = n_rows(run.steps);
    resize_rows(run.steps, row + 1);
    run.steps.step[row] = marked.step;
    run.steps.process[row] = process;
    run.steps.start_ns[row] = marked.start_ns;
    run.steps.dur_ns[row] = marked.dur_ns;
  }
}

void add_segment(RunTables& run, std::uint32_t process, std::uint32_t segment, std::int64_t open_ns,
                 std::int64_t close_ns) {
  const std::size_t row = n_rows(run.segments);
  resize_rows(run.segments, row + 1);
  run.segments.process[row] = process;
  run.segments.segment[row] = segment;
  run.segments.open_ns[row] = open_ns;
  run.segments.close_ns[row] = close_ns;
}

}  // namespace jaxprof::study::test
