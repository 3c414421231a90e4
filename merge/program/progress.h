// How far a merge is, for the person who waits for it: one line that is written again and again on a terminal, and now
// and then a line of its own elsewhere. Short merges say nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "merge/assembly/event_tables.h"

namespace jaxprof::merge {

// "reading  12 of 64 processes, 3.10 M records/s, 14 s left".
std::string progress_words(const assembly::Progress& progress, double elapsed_s);

// Writes to a descriptor. One thread.
class ProgressLine {
 public:
  // `fd` is borrowed; a negative one says nothing.
  explicit ProgressLine(int fd);
  // Takes the line away, where it is on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const assembly::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  int fd_;
  bool is_terminal_;
  bool is_shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace jaxprof::merge
