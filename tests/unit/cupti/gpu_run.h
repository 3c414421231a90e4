// A process with GPUs under the agent, without a GPU: tests/puppets/cuda_puppet with the fake driver and the fake CUPTI
// of tests/doubles/cuda, which loads the agent as the real driver does. Afterwards there is its spool, its own log of
// what ran when, and what the fake CUPTI thinks of how it was used.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/collect/child_run.h"

namespace jaxprof::test {

// A line of a log or report: words by name.
using LogLine = std::map<std::string, std::string>;

class GpuRun {
 public:
  GpuRun();
  SessionPlan& plan() { return child_.plan(); }
  SessionPage& page() { return child_.page(); }
  // A switch of the doubles ("FAKE_CUPTI_VERSION=22"), or any other variable.
  void set(const std::string& entry) { child_.environment().push_back(entry); }
  // Has the agent and the job find this libcupti, of the build's lib/.
  void use_libcupti(const std::string& path);

  // Runs the puppet with these options, to its end; its exit status, or 128 + the signal that killed it.
  int run(const std::string& options);

  const ProcessSlot& slot() const { return child_.slot(); }
  std::uint64_t drops(Drop drop) const { return child_.drops(drop); }
  std::string note() const { return slot().gpu_note; }
  rundir::SpoolTrace trace() const { return child_.trace(); }
  // Activities of a kind, in the spool's order.
  std::vector<spool::Event> activities(const rundir::SpoolTrace& trace, spool::EventKind kind) const;

  // Lines of the puppet's log of that kind: kernel, copy, fill, launch, profiler, rival, ...
  std::vector<LogLine> log(const std::string& what) const;
  // Rules of CUPTI that were broken, as the fake reported them; empty if none.
  std::vector<std::string> violations() const;
  // A counter of FakeCuptiCounts when the process ended; -1 without a report.
  std::int64_t count(const std::string& name) const;

 private:
  std::vector<LogLine> lines_of(const std::string& path) const;

  ChildRun child_;
  std::string log_path_;
  std::string report_path_;
  std::string libraries_;
};

}  // namespace jaxprof::test
