#include "merge/clock/clock_words.h"

#include <cmath>
#include <cstdio>

namespace jaxprof::clock {
namespace {

std::string human_bound(double bound_ns) {
  char text[48];
  if (bound_ns < 1e3) {
    std::snprintf(text, sizeof text, "%.0f ns", bound_ns);
  } else if (bound_ns < 1e6) {
    std::snprintf(text, sizeof text, "%.3g µs", bound_ns / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3g ms", bound_ns / 1e6);
  }
  return text;
}

}  // namespace

std::string clock_words(const std::string& method, double bound_ns, std::uint32_t n_nodes) {
  const bool is_wall_clock = method == "wall_clock";
  if (n_nodes < 2) return is_wall_clock ? "wall clock" : method;
  const std::string name = is_wall_clock ? "wall clock of each node" : method;
  if (std::isnan(bound_ns)) return name + ", bound unknown: times of different nodes cannot be compared";
  return name + ", bound " + human_bound(bound_ns) + ": differences between nodes below that mean nothing";
}

}  // namespace jaxprof::clock
