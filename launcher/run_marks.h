// Lines that one task prints for many, without any task waiting for another: whoever makes the mark file first prints.
// Marks of the run lie in its state folder on shared storage; marks of a node below the spool base.
#pragma once

#include <sys/types.h>

#include <string>

namespace jaxprof::launcher {

// Creates the empty file `path`; true if this call made it, false if it exists or cannot be made.
bool make_mark(const std::string& path);

// A rank that runs unprofiled says so, but 128 ranks of a node with a full disk shall not. Which of the node's lines
// this would be, 1 to kMaxUnprofiledLines; 0 if they are used up. Where no mark can be made (the disk may be the very
// reason) the answer is 1. `directory`: run_layout::node_marks_directory.
inline constexpr int kMaxUnprofiledLines = 3;
int take_unprofiled_line(const std::string& directory, uid_t uid);

}  // namespace jaxprof::launcher
