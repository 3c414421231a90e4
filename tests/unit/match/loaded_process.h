// A recording as the merge meets it: its spool on disk, opened, and its events put together.
#pragma once

#include <deque>

#include "merge/match/nccl_calls.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/match/plugin_events.h"
#include "merge/rundir/spool_trace.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/recording.h"

namespace jaxprof::test {

class LoadedProcess {
 public:
  explicit LoadedProcess(const Recording& recording)
      : trace_(*rundir::SpoolTrace::load(recording.write(folder_.path(), "a.jxspool"))) {
    match::NvtxRangeBuilder ranges;
    trace_.for_each_event([this, &ranges](std::uint32_t thread, const spool::Event& event) {
      ranges.add(thread, event);
      plugin_.add(thread, event);
    });
    ranges_ = std::move(ranges).finish();
  }

  const rundir::SpoolTrace& trace() const { return trace_; }
  const match::NvtxRanges& ranges() const { return ranges_; }
  const match::PluginEvents& plugin() const { return plugin_; }
  match::NcclCalls calls() const { return match::assemble_calls(trace_, ranges_, plugin_); }

 private:
  TempFolder folder_;
  rundir::SpoolTrace trace_;
  match::NvtxRanges ranges_;
  match::PluginEvents plugin_;
};

// The calls of a recording, whose texts are those of a process that stays loaded to the end of the tests.
inline match::NcclCalls calls_of(const Recording& recording) {
  static std::deque<LoadedProcess> loaded;
  return loaded.emplace_back(recording).calls();
}

}  // namespace jaxprof::test
