// What a person is told about the time axis of a run: by which method the nodes' clocks were aligned and what a
// difference between two nodes is worth. One place, so that the merge and the studies say the same.
#pragma once

#include <cstdint>
#include <string>

namespace jaxprof::clock {

// "850 ns", "6.1 µs", "2.5 ms", "3 s".
std::string time_words(double ns);

// `method` as the run file's clock_method; `sigma_ns` and `bound_ns` NaN: unknown. On one node nothing has to be
// aligned, and only the clock is named.
std::string clock_words(const std::string& method, double sigma_ns, double bound_ns, std::uint32_t n_nodes);

}  // namespace jaxprof::clock
