// One process's spool on its way to the run directory. While the process records, the copy follows it; when the process
// has written its footer, or has died and what was left in its memory file has been saved, the copy is brought level
// and gets its final name, at once and while the job may go on, and the files on the node are removed. Each step can
// fail, be cut short by a kill, and be done again, by this wrapper or by whoever comes after it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "agent/contract/task_record.h"
#include "agent/spool/publisher.h"
#include "launcher/name_claims.h"
#include "launcher/spool_source.h"

namespace jaxprof::launcher {

// How fast copies may be made.
struct Pace {
  std::function<bool()> may_go_on;               // false: whatever is not done yet stays undone
  std::function<bool()> begin_piece;             // waits for the task's turn; false: do not copy
  std::function<void(std::uint64_t)> end_piece;  // after each true: so many bytes were copied
};

class SlotCopy {
 public:
  SlotCopy(const SpoolSource& source, std::uint32_t index);

  // One more step while the job runs. `room` is scratch space of spool::Publisher::kPieceBytes. A failure is not told:
  // the next step tries again.
  void advance(NameClaims& names, const Pace& pace, std::span<char> room);

  // The last step, and what is to be said of the process: `kept` where its spool is still on the node.
  PublishedProcess finish(NameClaims& names, const Pace& pace, std::span<char> room);

 private:
  enum class End { kOpen, kEnded, kSaved };  // how the spool ends: not yet, with the process's footer, with a saved one

  bool is_running() const;
  // Names the copy as far as it was made, where the spool is not to be had any more. False: nothing was copied.
  bool name_part(PublishedProcess* process) const;
  // Whose copy has its final name already, from a wrapper that died afterwards.
  void find_earlier_copy();
  // Looks how the spool ends by now, and saves the rings of a process that has died.
  void find_end();
  bool save_rings();
  // Of a process that has died: the buffers with records of its GPUs that went with it.
  std::uint64_t lost_gpu_buffers() const;
  Status publish(NameClaims& names, const Pace& pace, std::span<char> room, bool is_last);
  Status open_copy(NameClaims& names);
  // Up to offset `end` of the spool, or to its end.
  Status copy(const Pace& pace, std::span<char> room, std::uint64_t end);
  Status give_name();

  const SpoolSource& source_;
  ProcessSlot& slot_;
  std::uint32_t index_;
  std::string spool_path_;  // "" as long as the process has not named one
  End end_ = End::kOpen;
  std::optional<OutputClaim> claim_;
  std::optional<spool::Publisher> publisher_;
  std::string published_name_;  // in the run directory; "" before the copy has its final name
  std::uint64_t published_bytes_ = 0;
  std::uint64_t saved_events_ = 0;
  std::string saving_note_;
};

}  // namespace jaxprof::launcher
