// One instant of a run: the links' differences put together to one offset a clock, such that most links are right. The
// sum of absolute residuals is made least (iteratively reweighted least squares), so that a link whose two directions
// differ stands out instead of pulling everybody; then links that stand out lose their weight altogether. Each step is
// a sparse linear system, solved by conjugate gradients from the solution of the instant before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace jaxprof::clock {

struct GraphEdge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

// What an edge says at an instant: the offset of b less that of a. NaN: nothing.
struct GraphSight {
  double difference_ns = 0;
  double bias_ns = 0;    // sigma of what is the edge's own: its directions' delays; positive
  double wander_ns = 0;  // sigma of what may be the clocks' and then is the same on all their edges
  double variance() const { return bias_ns * bias_ns + wander_ns * wander_ns; }
};

class GraphSolver {
 public:
  // Clocks with `is_fixed` have offset 0.
  GraphSolver(std::vector<bool> is_fixed, std::vector<GraphEdge> edges);

  // Goes on from the solution before. Clocks that no path of edges connects with a fixed one keep theirs.
  void solve(std::span<const GraphSight> sights);

  // All by clock, of the last solve().
  const std::vector<double>& offsets_ns() const { return offsets_; }
  const std::vector<bool>& is_reached() const { return is_reached_; }
  // How far the solution is likely off, from the edges' own sigmas as the residuals scale them.
  const std::vector<double>& sigmas_ns() const { return sigmas_; }
  // By edge: what it says less what the solution says; NaN where it says nothing.
  const std::vector<double>& residuals_ns() const { return residuals_; }
  // Whether there are loops, without which all residuals are 0.
  bool has_loops() const { return spare_edges_ > 0; }

 private:
  void find_reached();
  void take_residuals();
  double scale();
  template <typename Weight>
  void reweigh(const Weight& weight_of);
  double solve_linear();
  void estimate_sigmas(double scale);

  std::vector<bool> is_fixed_;
  std::vector<GraphEdge> edges_;
  std::span<const GraphSight> sights_;
  std::vector<std::uint32_t> active_;  // edges that say something and are reached
  std::size_t spare_edges_ = 0;        // beyond what a tree needs
  std::vector<bool> is_reached_;
  std::vector<double> offsets_;
  std::vector<double> sigmas_;
  std::vector<double> residuals_;
  std::vector<double> weights_;
  // of solve_linear(), by clock
  std::vector<double> before_;
  std::vector<double> diagonal_;
  std::vector<double> rest_;
  std::vector<double> direction_;
  std::vector<double> product_;
};

}  // namespace jaxprof::clock
