// What the window is a window of, where that is a range or a number of steps (agent/contract/window_plan.h): finds it
// among the program's ranges, open or closed, and tells agent/collect. A range's window is its: the end of the range
// that opened it closes it, and no other does. A window of steps opens with the first step whose number lies in it, and
// closes when every thread that was in its last step has left it, or a later step begins.
#pragma once

#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/attributes.h"

namespace jaxprof::nvtx {

// What a range is by its domain and message: a step's marker, the window's.
struct Marks {
  bool is_step = false;
  bool is_content = false;
};
// `uses`: of its domain (domains.h). The second registers nothing, unless the text is wide.
Marks marks_of(std::uint8_t uses, spool::StringId message) noexcept;
Marks marks_of(std::uint8_t uses, const Given& from) noexcept;

// What a range that begins is to the window.
struct Content {
  bool is_content = false;  // it opened the window, or is one of the steps that the window counts
  std::uint64_t mark = 0;   // what its end means to end_content(); 0: nothing
};
// To be called where `marks` has something, before the range is written: it may open the window, or close it. `step`: 1
// + the ordinal of --step-marker's step; 0: it is none.
Content begin_pushed_content(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth, const Marks& marks,
                             std::uint64_t step, const Given& from) noexcept;
// For a range that is started; one with a mark and an id is remembered, the last of its process.
Content begin_started_content(collect::ThreadSink* sink, const Marks& marks, std::uint64_t step,
                              const Given& from) noexcept;
void remember_started_content(nvtxRangeId_t range, std::uint64_t mark) noexcept;

// After each pop of a watched domain: the mark of the range that it ended, 0 if that was none of the window's.
inline std::uint64_t pop_content(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept {
  if (sink->pushed_content != collect::range_place(domain, depth)) return 0;
  sink->pushed_content = collect::kNoPlace;
  return sink->content_mark;
}
// After the pop was written: `mark` is not 0.
void end_pushed_content(std::uint64_t mark) noexcept;
// After the end of any started range was written.
void end_started_content(nvtxRangeId_t range) noexcept;

}  // namespace jaxprof::nvtx
