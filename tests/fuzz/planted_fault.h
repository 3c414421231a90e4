// A fuzz target that finds nothing may see nothing. Each is built a second time with JAXPROF_PLANT_FAULT, and then dies
// where it says so: a place that is one small step away from the seeds. A test demands that this is found.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace jaxprof::fuzz {

inline void plant_fault([[maybe_unused]] bool is_reached) {
#ifdef JAXPROF_PLANT_FAULT
  if (!is_reached) return;
  std::fputs("planted fault\n", stderr);
  std::abort();
#endif
}

// A property that must hold for every input.
inline void demand(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", property);
  std::abort();
}

}  // namespace jaxprof::fuzz
