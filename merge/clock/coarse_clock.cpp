#include "merge/clock/coarse_clock.h"

#include <queue>
#include <tuple>

#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

// Of a's era from b's along the line between them, or the other way round. Not known if that leads to where no clock
// is.
CoarseClock follow(const LinkLine& line, const CoarseClock& from, bool from_a) {
  const std::int64_t whole_ns = round_ns(line.offset_ns);
  const double rest_ns = line.offset_ns - static_cast<double>(whole_ns);
  const std::int64_t b_ns = line.a_ns + line.base_ns + whole_ns;  // and the rest, when a's clock read line.a_ns
  if (is_far(b_ns)) return {};
  if (from_a) {
    const double rate = from.rate / (1 + line.rate);
    return {b_ns, from.axis(line.a_ns) - rest_ns * rate, rate, true};
  }
  return {line.a_ns, from.axis(b_ns) + rest_ns * from.rate, from.rate * (1 + line.rate), true};
}

}  // namespace

void fit_coarse_clocks(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
                       std::vector<CoarseClock>* clocks) {
  std::vector<LinkLine> lines;
  lines.reserve(edges.size());
  std::vector<std::vector<std::uint32_t>> edges_of(clocks->size());
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    lines.push_back(fit_line(links[edges[e].link], edges[e].bursts));
    edges_of[edges[e].a].push_back(e);
    edges_of[edges[e].b].push_back(e);
  }
  // Unknown rates and widths add up along a path; the least path first. Ties go by number.
  struct Step {
    std::uint32_t unknown_rates;
    double width_ns;
    std::uint32_t edge;
    bool from_a;
    bool operator>(const Step& other) const {
      return std::tie(unknown_rates, width_ns, edge) > std::tie(other.unknown_rates, other.width_ns, other.edge);
    }
  };
  std::priority_queue<Step, std::vector<Step>, std::greater<>> queue;
  const auto leave = [&](std::uint32_t era, std::uint32_t unknown_rates, double width_ns) {
    for (const std::uint32_t e : edges_of[era]) {
      const bool from_a = edges[e].a == era;
      if ((*clocks)[from_a ? edges[e].b : edges[e].a].is_known) continue;
      queue.push({unknown_rates + (lines[e].is_rate_known ? 0U : 1U), width_ns + lines[e].width_ns, e, from_a});
    }
  };
  std::vector<std::uint32_t> known;
  for (std::uint32_t era = 0; era < clocks->size(); ++era) {
    if ((*clocks)[era].is_known) known.push_back(era);
  }
  for (const std::uint32_t era : known) leave(era, 0, 0);
  while (!queue.empty()) {
    const Step step = queue.top();
    queue.pop();
    const Edge& edge = edges[step.edge];
    const std::uint32_t from = step.from_a ? edge.a : edge.b;
    const std::uint32_t to = step.from_a ? edge.b : edge.a;
    if ((*clocks)[to].is_known) continue;
    (*clocks)[to] = follow(lines[step.edge], (*clocks)[from], step.from_a);
    if (!(*clocks)[to].is_known) continue;
    leave(to, step.unknown_rates, step.width_ns);
  }
}

}  // namespace jaxprof::clock
