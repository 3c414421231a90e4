// Which network ports and GPUs the observers of nodes sampled, and whose rows of them count. A port has a number of its
// own in each observer's spool; it is the same port by what it is. An observer that died was followed by another: their
// rows stand behind each other. Two that observed at once, because they could not see each other's lock, read the same
// counters twice: of a port the longer rows count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/assembly/run_sources.h"

namespace jaxprof::assembly {

// What one observer read of one port or GPU.
struct SamplePart {
  std::size_t observer = 0;       // position in RunSources::observers
  std::uint32_t number = 0;       // the subject's there
  std::uint64_t rows = 0;         // 0: found and never read
  std::uint64_t first_stamp = 0;  // CLOCK_MONOTONIC_RAW, ns
  std::uint64_t last_stamp = 0;
};

struct SampledSubject {
  std::uint32_t node = 0;
  std::vector<SamplePart> parts;     // that count, by time
  std::vector<SamplePart> left_out;  // read at the same time as one that counts
  std::uint64_t rows() const;        // of those that count
};

struct NodeSamples {
  std::vector<SampledSubject> nics;  // by node, then in order of discovery
  std::vector<SampledSubject> gpus;
  std::vector<rundir::SampleLosses> losses;  // by observer
};

// Decodes every spool once. Observers without a clock have no rows.
NodeSamples survey_samples(const RunSources& sources);

// Moves the parts that do not count to `left_out`, and puts the others in order of time.
void leave_out_overlaps(SampledSubject* subject);

}  // namespace jaxprof::assembly
