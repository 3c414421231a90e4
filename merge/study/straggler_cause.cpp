#include "merge/study/straggler_cause.h"

#include <algorithm>
#include <array>

#include "merge/study/in_parallel.h"

namespace jaxprof::study {
namespace {

// Values of one step's lanes become what exceeds the median of the lanes in `peers`.
void subtract_median(std::span<const std::int64_t> values, std::span<const std::uint32_t> peers,
                     std::vector<std::int64_t>& scratch, std::vector<std::int64_t>& excess) {
  scratch.clear();
  for (const std::uint32_t lane : peers) scratch.push_back(values[lane]);
  const std::int64_t middle = median_ns(scratch);
  for (const std::uint32_t lane : peers) excess[lane] = span_ns(middle, values[lane]);
}

// Groups of lanes with as many operations in the step.
std::vector<std::vector<std::uint32_t>> peers_in(std::span<const std::uint32_t> n_calls) {
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t lane = 0; lane < n_calls.size(); ++lane) {
    if (n_calls[lane] > 0) lanes.push_back(lane);
  }
  std::stable_sort(lanes.begin(), lanes.end(),
                   [n_calls](std::uint32_t a, std::uint32_t b) { return n_calls[a] < n_calls[b]; });
  std::vector<std::vector<std::uint32_t>> groups;
  for (const std::uint32_t lane : lanes) {
    if (groups.empty() || n_calls[groups.back().front()] != n_calls[lane]) groups.emplace_back();
    groups.back().push_back(lane);
  }
  return groups;
}

}  // namespace

std::string_view word(Cause cause) {
  constexpr std::array<std::string_view, 6> kWords = {"", "compute", "host", "copy", "network", "unattributed"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::int64_t CauseSplit::sum_ns() const {
  return instant_after(instant_after(compute_ns, host_ns), instant_after(copy_ns, rest_ns));
}

void CauseSplit::add(const CauseSplit& other) {
  compute_ns = instant_after(compute_ns, other.compute_ns);
  host_ns = instant_after(host_ns, other.host_ns);
  copy_ns = instant_after(copy_ns, other.copy_ns);
  rest_ns = instant_after(rest_ns, other.rest_ns);
}

NamedCause name_cause(const CauseSplit& split) {
  const std::int64_t sum_ns = split.sum_ns();
  if (sum_ns <= 0) return {};
  const std::array<std::pair<Cause, std::int64_t>, 3> parts = {
      {{Cause::kCompute, split.compute_ns}, {Cause::kHost, split.host_ns}, {Cause::kCopy, split.copy_ns}}};
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double share = std::clamp(static_cast<double>(largest->second) / static_cast<double>(sum_ns), 0.0, 1.0);
  return {share >= kNamedShare ? largest->first : Cause::kUnattributed, share};
}

std::vector<CauseSplit> excess_over_peers(const OwnTime& own) {
  std::vector<CauseSplit> found(own.n_steps * own.n_lanes);
  in_parallel(own.n_steps, std::max<std::size_t>(1, kRowsWorthAThread / std::max<std::size_t>(1, own.n_lanes)),
              [&](std::size_t begin, std::size_t end) {
                std::vector<std::int64_t> scratch;
                std::array<std::vector<std::int64_t>, 6> excess;
                for (auto& column : excess) column.resize(own.n_lanes);
                const std::array columns = {&own.compute_ns, &own.host_ns, &own.copy_ns,
                                            &own.rest_ns,    &own.idle_ns, &own.enqueue_ns};
                for (std::size_t step = begin; step < end; ++step) {
                  const std::size_t at = own.at(step, 0);
                  for (const auto& peers : peers_in(std::span(own.n_calls).subspan(at, own.n_lanes))) {
                    if (peers.size() < 2) continue;
                    for (std::size_t i = 0; i < columns.size(); ++i) {
                      subtract_median(std::span(*columns[i]).subspan(at, own.n_lanes), peers, scratch, excess[i]);
                    }
                    for (const std::uint32_t lane : peers) {
                      const std::int64_t by_host_ns =
                          std::clamp<std::int64_t>(std::min(excess[4][lane], excess[5][lane]), 0,
                                                   std::max<std::int64_t>(0, own.idle_ns[at + lane]));
                      found[at + lane] = {excess[0][lane], instant_after(excess[1][lane], by_host_ns), excess[2][lane],
                                          span_ns(by_host_ns, excess[3][lane])};
                    }
                  }
                }
              });
  return found;
}

}  // namespace jaxprof::study
