#include "merge/clock/clock_words.h"

#include <cmath>
#include <cstdio>

namespace jaxprof::clock {
namespace {

std::string method_words(const std::string& method) {
  if (method == "wall_clock") return "wall clock of each node";
  if (method == "udp_kernel_stamps") return "probes, stamped by the kernels";
  if (method == "udp_user_stamps") return "probes, stamped by the observers";
  if (method == "mixed") return "probes of several kinds, or wall clocks on some nodes";
  return method;
}

}  // namespace

std::string time_words(double ns) {
  char text[48];
  const double size = std::abs(ns);
  if (size < 1e3) {
    std::snprintf(text, sizeof text, "%.0f ns", ns);
  } else if (size < 1e6) {
    std::snprintf(text, sizeof text, "%.3g µs", ns / 1e3);
  } else if (size < 1e9) {
    std::snprintf(text, sizeof text, "%.3g ms", ns / 1e6);
  } else {
    std::snprintf(text, sizeof text, size < 1e12 ? "%.3g s" : "%.6g s", ns / 1e9);
  }
  return text;
}

std::string clock_words(const std::string& method, double sigma_ns, double bound_ns, std::uint32_t n_nodes) {
  if (n_nodes < 2) return method == "wall_clock" ? "wall clock" : method;
  const std::string name = method_words(method);
  if (std::isnan(bound_ns)) {
    return name + ", bound unknown: times of " + (method == "mixed" ? "some" : "different") +
           " nodes cannot be compared";
  }
  const std::string sigma = std::isnan(sigma_ns) ? "" : ", sigma " + time_words(sigma_ns);
  return name + sigma + ", bound " + time_words(bound_ns) + ": differences between nodes below that are not certain";
}

}  // namespace jaxprof::clock
