#include "merge/export/step_tracks.h"

#include <fmt/format.h>

#include <map>

#include "merge/export/lanes.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

bool goes_on_in(const study::Intervals& time, study::TimeSpan span) {
  study::Intervals own;
  own.add({span.begin_ns, std::max(span.end_ns, study::instant_after(span.begin_ns, 1))});
  own.settle();
  return !intersection(time, own).empty();
}

}  // namespace

void add_steps(const ExportedProcess& process) {
  const StepTable& t = process.run.steps;
  std::map<std::uint64_t, Lanes> threads;
  for (std::uint64_t row = process.run.step_process_offset[process.process];
       row < process.run.step_process_offset[process.process + 1]; ++row) {
    if (t.start_ns[row] < 0 || t.step[row] == kNoPayload) continue;
    Slice slice{.start_ns = t.start_ns[row], .category = Category::kStep};
    slice.end_ns = t.dur_ns[row] >= 0 ? study::instant_after(t.start_ns[row], t.dur_ns[row])
                                      : std::max(t.start_ns[row], process.run.processes.end_ns[process.process]);
    if (!goes_on_in(process.time, {slice.start_ns, slice.end_ns})) continue;
    slice.name = process.trace.name(fmt::format("step {}", t.step[row]));
    slice.notes.add_signed(NoteName::kStep, t.step[row]);
    if (t.source[row] != StepSource::kMissing) {
      slice.notes.add_text(NoteName::kKind, process.trace.text(word(t.source[row])));
    }
    if (t.dur_ns[row] < 0) slice.notes.add_bool(NoteName::kNeverEnded, true);
    const bool is_alone = threads.empty() || (threads.size() == 1 && threads.begin()->first == t.tid[row]);
    const TrackPlan plan{process.track, is_alone ? std::string("steps") : fmt::format("steps of thread {}", t.tid[row]),
                         kStepsFirst};
    threads.try_emplace(t.tid[row], process.trace, plan, Overlap::kInside).first->second.add(slice);
  }
  for (auto& [tid, lanes] : threads) lanes.finish();
}

}  // namespace jaxprof::exporting
