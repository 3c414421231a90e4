// How long the members of a collective wait for each other, and whose fault that is: the time between two arrivals is
// waited by those who are there and shared out evenly among those who are not. Written down once more here and not
// shared with the studies, whose sums are held against it.
#pragma once

#include <cstdint>
#include <vector>

namespace jaxprof::synthetic {

struct WaitBlame {
  std::vector<double> wait_ns;   // by member
  std::vector<double> blame_ns;  // by member; the same sum
};

WaitBlame wait_and_blame(const std::vector<std::int64_t>& arrival_ns);

}  // namespace jaxprof::synthetic
