// In which step each NCCL call of the run begins, and whether that is asked for. Walks a process's calls beside its
// steps, since both are in order of time: millions of calls need no search each.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/scope.h"

namespace jaxprof::study {

// One value a row of /events/nccl.
class CallSteps {
 public:
  // Needs /events/nccl/start_ns and process_offset.
  CallSteps(const runfile::RunTables& run, const Scope& scope);

  // Position in StepAxis::steps(), whether asked for or not; -1: in none. 0 in a run without steps.
  std::int32_t step(std::uint64_t row) const { return (code_[row] >> 1) - 1; }
  // Does the call begin in what is asked for?
  bool is_in_scope(std::uint64_t row) const { return (code_[row] & 1) != 0; }

 private:
  void mark_process(const runfile::RunTables& run, const Scope& scope, std::size_t process);

  std::vector<std::int32_t> code_;  // 2 * (step + 1), + 1 if in scope
};

}  // namespace jaxprof::study
