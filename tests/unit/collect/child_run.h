// Runs one scenario of a child program (child_program.h) as a wrapper would run a task: session page, spool directory,
// JAXPROF_SESSION. Afterwards the page's slots and the spools are there to look at.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/contract/session_page.h"
#include "agent/spool/event_codec.h"
#include "merge/rundir/spool_trace.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::test {

class ChildRun {
 public:
  // Small rings, so that a test fills one with a few thousand events.
  static constexpr std::uint32_t kRingBytes = 64 << 10;

  ChildRun();
  // To be changed before run(): the plan, and what is added to the child's environment.
  SessionPlan& plan() { return page_->plan; }
  SessionPage& page() { return *page_; }
  std::vector<std::string>& environment() { return environment_; }
  const std::string& folder() const { return spools_; }
  void leave_out_session() { has_session_ = false; }

  // Starts `program` with `scenario` and waits for its end: its exit status, or 128 + the signal that killed it.
  int run(const char* program, const std::string& scenario);

  const ProcessSlot& slot(std::uint32_t index = 0) const { return page_->slots[index]; }
  std::uint32_t claimed_slots() const { return page_->claimed_slots.load(); }
  std::uint32_t strangers() const { return page_->stranger_processes.load(); }
  std::uint64_t drops(Drop drop) const { return slot().drops[static_cast<int>(drop)].load(); }
  std::uint64_t all_drops() const;
  // What the child reported; INT64_MIN if it did not.
  std::int64_t reported(const std::string& name) const;
  // Path of slot 0's spool, and the spool itself; fails the test if it cannot be read.
  std::string spool_path() const;
  rundir::SpoolTrace trace() const;

 private:
  TempFolder folder_;
  std::string session_ = folder_.file("session");
  std::string spools_ = folder_.file("spools");
  SessionPage* page_ = nullptr;
  bool has_session_ = true;
  std::vector<std::string> environment_;
  std::map<std::string, std::int64_t> reported_;
};

struct ThreadEvent {
  std::uint32_t thread;
  spool::Event event;
};
// All events in file order; payloads point into the trace.
std::vector<ThreadEvent> events_of(const rundir::SpoolTrace& trace);

}  // namespace jaxprof::test
