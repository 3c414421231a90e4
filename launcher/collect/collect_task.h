// What one killed task left, brought in: its wrapper's work done in its place. The wrapper's lock on the folder tells
// whether it lives, and keeps two that collect apart.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/collect/left_task.h"

namespace jaxprof::launcher {

struct Collected {
  enum class State {
    kCollected,  // nothing is left here
    kRunning,    // the wrapper lives: left alone
    kBusy,       // another collects it
    kGoesOn,     // the wrapper is gone, a process of the task is not: what it wrote so far is copied
    kGone,       // another has collected it since
    kFailed,     // see `reason`
  };
  State state = State::kCollected;
  std::int64_t spools = 0;
  std::int64_t bytes = 0;
  std::int64_t saved = 0;  // spools with what was still in memory
  std::string reason;      // with the place
};

// "rank 3 on n1"
std::string name_of(const LeftTask& task);

// With `is_dry_run` nothing is changed, and `spools` and `bytes` are what lies there.
Collected collect_task(const std::string& directory, const LeftTask& task, bool is_dry_run);

}  // namespace jaxprof::launcher
