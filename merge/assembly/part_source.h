// Where the parts of a run come from: this process's own threads, or other processes of the merge as well. Parts come
// in the order of /job/processes; heads may be asked for ahead of the rows, so that others can be at work on theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <variant>

#include "agent/base/result.h"
#include "merge/assembly/ordered_parts.h"
#include "merge/assembly/part_placer.h"
#include "merge/assembly/process_part.h"
#include "merge/runfile/encoded_part.h"

namespace jaxprof::assembly {

// The rows of a process with the run's numbers.
struct PlacedPart {
  std::variant<runfile::EventTables, runfile::EncodedPart> rows;
  StoredCalls calls;
  std::uint64_t early = 0;  // events with times before the epoch
};

// One thread. For each process head(), then place(), then rows(), each in the order of processes.
class PartSource {
 public:
  PartSource() = default;
  PartSource(const PartSource&) = delete;
  PartSource& operator=(const PartSource&) = delete;
  virtual ~PartSource() = default;

  // How many heads must have been placed beyond the process whose rows are asked for, as far as there are any.
  virtual std::size_t ahead() const { return 0; }
  virtual Result<PartHead> next_head() = 0;
  virtual Status place(Placement placement) = 0;
  virtual Result<PlacedPart> next_rows() = 0;
};

// The parts of some processes, read by this process's threads.
class LocalParts final : public PartSource {
 public:
  // `processes` are indices of /job/processes, rising. All are borrowed.
  LocalParts(const RunSources& sources, std::vector<std::size_t> processes, unsigned n_threads,
             std::size_t budget_bytes);

  Result<PartHead> next_head() override;
  Status place(Placement placement) override;
  Result<PlacedPart> next_rows() override;

 private:
  const std::vector<std::size_t> processes_;
  OrderedParts<ProcessPart> parts_;
  std::deque<ProcessPart> waiting_;  // with heads given out, in order
  std::deque<PlacedPart> placed_;
};

// About what a part takes while it is made, by the length of its spool.
std::size_t memory_of(const SourceProcess& process);
// 0: as many as the machine has.
unsigned threads_of(unsigned asked);

}  // namespace jaxprof::assembly
