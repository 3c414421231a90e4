#include "merge/report/arrival_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "merge/report/down_sampling.h"
#include "merge/study/arrival_course.h"
#include "merge/study/arrival_words.h"
#include "merge/study/step_map.h"

namespace jaxprof::report {
namespace {

using study::Cell;
using study::Missing;
using study::Unit;

constexpr std::size_t kWorst = 8;
constexpr std::size_t kBinsOfCourse = 400;    // two points each
constexpr std::int64_t kBandsOfWidth = 1500;  // what is closer together is drawn as one

double or_missing(std::int64_t ns) {
  return ns == study::kNoLateness ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(ns);
}

std::string why_none(const runfile::RunTables& run, const study::StragglerFacts& facts) {
  if (facts.judged().n == 0) return study::why_no_arrivals(run, {}, facts.arrivals(), facts.judged());
  if (facts.fault().n_resolved == 0) {
    return "no collective is resolved: the clocks of its nodes do not tell who came last";
  }
  return "";
}

// Of the steps [first, last] of each column, by number.
void add_steps(const study::StragglerFacts& facts, const std::vector<std::uint32_t>& steps, std::size_t per_bin,
               FigureMap& map) {
  const auto number = [&facts](std::uint32_t step) {
    return facts.scope().has_steps() ? static_cast<double>(facts.scope().axis().steps()[step].step) : 0.0;
  };
  for (std::size_t i = 0; i < steps.size(); i += per_bin) {
    map.column_begins.push_back(number(steps[i]));
    map.column_ends.push_back(number(steps[std::min(i + per_bin, steps.size()) - 1]));
  }
}

// By fault over all steps, largest first.
std::vector<std::uint32_t> worst_ranks(const study::StepMap& map) {
  std::vector<double> sums(map.ranks.size(), 0);
  for (std::size_t i = 0; i < map.fault_ns.size(); ++i)
    sums[i / map.steps.size()] += static_cast<double>(map.fault_ns[i]);
  std::vector<std::uint32_t> order(map.ranks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&sums](std::uint32_t a, std::uint32_t b) { return sums[a] > sums[b]; });
  order.resize(std::min(order.size(), kWorst));
  return order;
}

Cell step_cell(const study::StragglerFacts& facts, std::int32_t step) {
  if (!facts.scope().has_steps() || step < 0) return Missing{};
  return std::int64_t{facts.scope().axis().steps()[static_cast<std::size_t>(step)].step};
}

study::Table course_table(const runfile::RunTables& run, const study::StragglerFacts& facts,
                          const study::StepMap& map) {
  study::Table table;
  table.columns = {{"rank", "rank"},
                   {"node", "node"},
                   {"step", "step"},
                   {"arrival_ns", "arrival", Unit::kTimeNs},
                   {"off_middle_ns", "against the middle", Unit::kTimeNs}};
  for (const std::uint32_t subject : worst_ranks(map)) {
    const auto points = study::arrival_course(facts, map.ranks, subject);
    std::vector<std::int64_t> at;
    std::vector<std::int64_t> value;
    for (const study::CoursePoint& point : points) {
      at.push_back(point.t_ns);
      value.push_back(point.off_middle_ns);
    }
    const study::Subject& rank = map.ranks.at(subject);
    for (const std::size_t i : extremes_by_bin(at, value, kBinsOfCourse)) {
      study::Row& row = table.rows.emplace_back();
      row.emplace_back(rank_label(rank.rank));
      row.emplace_back(study::node_name(run, rank.node));
      row.push_back(step_cell(facts, points[i].step));
      row.emplace_back(points[i].t_ns);
      row.emplace_back(points[i].off_middle_ns);
    }
  }
  return table;
}

// The widest of each bin.
study::Table band_table(const runfile::RunTables& run, const study::StragglerFacts& facts) {
  study::Table table;
  table.columns = {{"last_arrival_ns", "last arrival", Unit::kTimeNs},
                   {"std_ns", "std of all members", Unit::kTimeNs},
                   {"clock_ns", "3 sigma of clocks", Unit::kTimeNs}};
  const auto bands = study::arrival_bands(run, facts);
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> value;
  for (const study::CourseBand& band : bands) {
    at.push_back(band.t_ns);
    value.push_back(std::llround(std::min(9e18, band.std_ns)));
  }
  for (const std::size_t i : extremes_by_bin(at, value, kBinsOfCourse)) {
    study::Row& row = table.rows.emplace_back();
    row.emplace_back(bands[i].t_ns);
    row.emplace_back(bands[i].std_ns);
    row.emplace_back(Missing{});
    if (bands[i].clock_ns >= 0) row.back() = bands[i].clock_ns;
  }
  return table;
}

}  // namespace

Figure step_map_figure(const runfile::RunTables& run, const study::StragglerFacts& facts, std::size_t most_columns) {
  Figure figure;
  figure.id = "F4";
  figure.title = "Who held the job back, step by step";
  figure.definition =
      "Fault: what others waited for this rank by its own doing in that step (jaxprof-study stragglers --explain); "
      "over all "
      "steps it adds up to the rank's fault in that table. Lateness: its arrival against the middle one, the median "
      "over the "
      "collectives of the step. Where steps are more than columns, a column shows the value farthest from 0 of its "
      "steps. "
      "Lines separate up to 40 nodes.";
  figure.empty_reason = why_none(run, facts);
  if (!figure.empty_reason.empty()) return figure;
  const study::StepMap map = study::map_steps(run, facts);
  figure.map.row_name = "rank";
  figure.map.column_name = "step";
  for (std::size_t i = 0; i < map.ranks.size(); ++i) {
    figure.map.row_labels.push_back(rank_label(map.ranks.at(i).rank));
    figure.map.row_hosts.push_back(study::node_name(run, map.ranks.at(i).node));
  }
  const std::size_t per_bin = columns_per_bin(map.steps.size(), most_columns);
  add_steps(facts, map.steps, per_bin, figure.map);
  std::vector<double> fault_ns(map.fault_ns.begin(), map.fault_ns.end());
  std::vector<double> off_ns(map.off_middle_ns.size());
  std::transform(map.off_middle_ns.begin(), map.off_middle_ns.end(), off_ns.begin(), or_missing);
  const std::size_t n = map.steps.size();
  figure.map.layers.push_back(
      {"fault_ns", "fault", Unit::kTimeNs, false, farthest_of_columns(fault_ns, map.ranks.size(), n, per_bin)});
  figure.map.layers.push_back(
      {"off_middle_ns", "lateness", Unit::kTimeNs, true, farthest_of_columns(off_ns, map.ranks.size(), n, per_bin)});
  return figure;
}

Figure arrival_course_figure(const runfile::RunTables& run, const study::StragglerFacts& facts) {
  Figure figure;
  figure.id = "F5";
  figure.title = "Arrivals over time, of the ranks with most fault";
  figure.definition =
      "Each point is a collective: how much later than the middle arrival this rank came, of the 8 ranks with most "
      "fault. "
      "Bands: plus and minus the standard deviation of all members of a collective, and 3 sigma of the clocks, below "
      "which "
      "nobody can be named. Where points are many, the least and the largest of each stretch of time are shown.";
  figure.empty_reason = why_none(run, facts);
  if (!figure.empty_reason.empty()) return figure;
  figure.tables.emplace_back("arrivals", course_table(run, facts, study::map_steps(run, facts)));
  figure.tables.emplace_back("bands", band_table(run, facts));
  return figure;
}

study::Table collective_bands(const runfile::RunTables& run, const study::StragglerFacts& facts) {
  const study::ArrivalInstances& instances = facts.arrivals().instances;
  std::map<runfile::Coll, std::vector<study::TimeSpan>> spans;
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = 0;
  for (std::size_t i = 0; i < instances.collective.size(); ++i) {
    const std::uint64_t row = instances.collective[i];
    const runfile::Coll coll = row < run.collectives.coll.size() ? run.collectives.coll[row] : runfile::Coll::kMissing;
    spans[coll].push_back({instances.first_ns[i], std::max(instances.first_ns[i], instances.end_ns[i])});
    begin_ns = std::min(begin_ns, instances.first_ns[i]);
    end_ns = std::max(end_ns, instances.end_ns[i]);
  }
  study::Table table;
  table.columns = {{"op", "op"}, {"begin_ns", "from", Unit::kTimeNs}, {"end_ns", "to", Unit::kTimeNs}};
  const std::int64_t gap_ns = std::max<std::int64_t>(0, study::span_ns(begin_ns, end_ns)) / kBandsOfWidth;
  for (auto& [coll, all] : spans) {
    for (const study::TimeSpan& span : joined_spans(std::move(all), gap_ns)) {
      study::Row& row = table.rows.emplace_back();
      row.emplace_back(std::string(word(coll)));
      row.emplace_back(span.begin_ns);
      row.emplace_back(span.end_ns);
    }
  }
  return table;
}

}  // namespace jaxprof::report
