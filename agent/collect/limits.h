// The limits under which a process records: what all spools of its task may take, and what must stay free on their
// disk. Whoever meets one sets the session page's stop word, and every process of the task ends its recording within a
// tick of its drain thread; the programs go on. The stop for the job's time limit comes by the same word, from the
// wrapper.
#pragma once

#include <cstdint>

#include "agent/contract/session_page.h"
#include "agent/spool/block.h"

namespace jaxprof::collect {

// Adds what this process has written to its spool to what its task has. Drain thread.
void count_spool_bytes(SessionPage* page, std::uint64_t bytes) noexcept;

// Stops the task's recording if the disk of the open spool `fd` is down to its reserve. Drain thread, once a second or
// MiB: one system call, on a file that is open anyway. (The wrapper could look for all, but a job may outlive it.)
void check_disk(SessionPage* page, int fd) noexcept;

// Stops the task's recording because the process of `slot` could not write its spool, for `error`, an errno; the slot's
// note and its counter kSpoolWriteFailed say so before the stop is seen. Drain thread, once.
void stop_for_write_failure(SessionPage* page, ProcessSlot* slot, int error) noexcept;

// Why a process that attaches now shall not record; kNone: it shall. Looks at the disk.
StopReason find_stop(SessionPage* page) noexcept;

// What the footer of a spool says that ended for `reason`.
spool::FooterReason footer_reason(StopReason reason) noexcept;

}  // namespace jaxprof::collect
