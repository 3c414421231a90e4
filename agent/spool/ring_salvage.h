// What a process left behind when it died without a word (SIGKILL, SIGSEGV, _exit, exec): its memory file still holds
// what its threads wrote and its drain thread had not. This appends that to the spool, with an anchor taken now and a
// footer, so that the spool ends where the process did. Run by whoever saw the process end, on the same node; every
// number in the memory file is checked, because the process may have died while it wrote one. Tools only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "agent/base/result.h"
#include "agent/spool/block.h"

namespace jaxprof::spool {

struct Salvage {
  std::uint64_t events = 0;         // appended
  std::uint64_t state_bytes = 0;    // of registrations appended
  std::uint64_t damaged_rings = 0;  // given up at a record that makes no sense
  bool was_complete = false;        // the spool has a footer: nothing was to be done
};

// `memory_path` and `spool_path` belong to one process, which must be gone. `counters` are its last drop counters and
// `events_written` the events that it says are in the spool. Errors: kInputUnreadable (either file is not what it
// should be), kOutputFailed (the spool cannot be appended to; SPOOL.saving beside it
// then says where its own end was, and the next attempt begins there). Whoever comes long
// after the process's end, maybe after the node's next boot, gives `ended_realtime_ns`: the footer then has that time,
// and no anchor is taken, since today's clocks say nothing of that day's. `reason` is what the footer says:
// kWriteFailed where the process had lost events because its spool could not be written.
Result<Salvage> salvage_rings(const std::string& memory_path, const std::string& spool_path,
                              std::span<const CounterRecord> counters, std::uint64_t events_written,
                              std::optional<std::int64_t> ended_realtime_ns = std::nullopt,
                              FooterReason reason = FooterReason::kSaved);

}  // namespace jaxprof::spool
