// All spools of a task on their way to the run directory: passes while the job runs, each of which takes every copy a
// step further, and a last one after the job's end, which says what became of each process. Several times is no harm:
// whatever an earlier wrapper, or an earlier attempt, has done already is found and not done again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "agent/contract/task_record.h"
#include "launcher/name_claims.h"
#include "launcher/slot_copy.h"
#include "launcher/spool_source.h"

namespace jaxprof::launcher {

// Used by one thread.
class SpoolCollection {
 public:
  explicit SpoolCollection(SpoolSource source);
  SpoolCollection(const SpoolCollection&) = delete;
  SpoolCollection& operator=(const SpoolCollection&) = delete;

  // While the job runs. Nothing is told of what fails: the next pass tries again.
  void pass(const Pace& pace);

  // The last pass, until time is up. In the records `kept` names what is still on the node. Gives the task's name claim
  // back if no process used it.
  std::vector<PublishedProcess> finish(const spool::IsTimeUp& is_time_up);

  // What is to be said of the task as a whole, after finish().
  std::vector<std::string> notes() const;

 private:
  void find_processes();
  std::vector<PublishedProcess> unattached_processes() const;
  std::span<char> room();

  const SpoolSource source_;
  NameClaims names_;
  std::vector<std::unique_ptr<SlotCopy>> copies_;  // by slot
  std::vector<char> room_;
};

}  // namespace jaxprof::launcher
