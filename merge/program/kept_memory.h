// A merge makes one part of the run after the other, each in tens of MB that it gives back, and the next one takes them
// again. glibc hands such memory to the system and asks for it anew, a page at a time: a tenth of a merge's time. So
// what was given back is kept, up to a bound, which adds little to the most that a merge holds.
#pragma once

#include <malloc.h>

namespace jaxprof::merge {

// Before there are threads.
inline void keep_memory() {
#ifdef __GLIBC__
  constexpr int kLargest = 32 << 20;   // of one allocation; glibc takes no more
  constexpr int kMostKept = 64 << 20;  // of each of its arenas, which are about as many as threads
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kMostKept);
#endif
}

}  // namespace jaxprof::merge
