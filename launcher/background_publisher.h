// Publishing while the job runs: a pass every one and a half seconds, so that a task that is killed with its wrapper
// has lost no more than three in the run directory. It must not be felt: idle priority, a rate that the node's tasks
// share, and passes that do not begin at the same instant on 512 ranks. After a signal that asks the task to end
// neither holds any more, because the kill may come within a second.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/publish_turns.h"
#include "launcher/publishing_channel.h"
#include "launcher/spool_collection.h"

namespace jaxprof::launcher {

// One thread, which must be another than the one of the last pass: its priority does not rise again.
class BackgroundPublisher {
 public:
  // `phase`: any number that differs between tasks.
  BackgroundPublisher(SpoolCollection& spools, PublishingRequests& requests, PublishTurns turns, std::uint64_t phase);

  // Until the job has ended.
  void run();

 private:
  bool begin_piece();
  void end_piece(std::uint64_t copied_bytes);

  SpoolCollection& spools_;
  PublishingRequests& requests_;
  PublishTurns turns_;
  std::int64_t phase_ns_;
  bool has_turn_ = false;
};

// Gives the calling thread the least claim to processor and disk that there is.
void become_idle();

}  // namespace jaxprof::launcher
