// What each GPU did with its own time: from the end of the synchronizing operation before to its arrival at the next
// one. Four parts that add up to it, so that whoever comes late can be asked what took so long.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/arrivals.h"
#include "merge/study/member_lateness.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {

// ns; [step, lane] at step * n_lanes + lane. A lane is a GPU, or a process without a known GPU (Subjects by kGpu); a
// step is a position in StepAxis::steps(), or 0 without steps. Stretches of a lane that overlap count once.
struct OwnTime {
  std::size_t n_steps = 0;
  std::size_t n_lanes = 0;
  std::vector<std::int64_t> compute_ns;  // a kernel ran that is no communication
  std::vector<std::int64_t> host_ns;     // idle, and what came next was launched only after what was before had ended
  std::vector<std::int64_t> copy_ns;     // a copy or set of memory, and no such kernel
  std::vector<std::int64_t> rest_ns;     // idle otherwise, or another communication
  std::vector<std::int64_t> idle_ns;     // of the rest: idle, of which nothing tells when the next was launched
  std::vector<std::int64_t> enqueue_ns;  // from the begin of each stretch to the host's call, summed; may be negative
  std::vector<std::uint32_t> n_calls;    // operations whose stretch is counted
  bool has_work = false;                 // the run file has kernels or copies

  std::size_t at(std::size_t step, std::size_t lane) const { return step * n_lanes + lane; }
  std::int64_t sum_ns(std::size_t i) const { return compute_ns[i] + host_ns[i] + copy_ns[i] + rest_ns[i]; }
};

// Of judged, synchronizing instances. Reads kernels, copies and launches process by process; without a reader they are
// those of `run`. kInputUnreadable.
Result<OwnTime> own_time(const runfile::RunTables& run, const runfile::RunFileReader* reader, const Arrivals& arrivals,
                         const Judged& judged, const Subjects& lanes, std::size_t n_steps);

}  // namespace jaxprof::study
