// Scenarios as alternatives of one replay, several at once.
#include "merge/study/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "merge/study/arrival_words.h"
#include "merge/study/human.h"
#include "merge/study/member_lateness.h"
#include "merge/study/replay.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

enum class Subject { kRun, kRank, kNode };

struct Scenario {
  std::string words;
  Subject subject = Subject::kRun;
  std::int64_t number = -1;  // rank or row of /job/nodes
  Alternative alternative;
  bool is_cost = false;     // all alike but this one: compared with all alike
  bool is_slowest = false;  // the slowest 3 % are mended
  std::int64_t time_ns = 0;
};

class Scenarios {
 public:
  Scenarios(const RunTables& run, const Replay& replay) : run_(run), replay_(replay) {}

  std::vector<Scenario> list() {
    add("replayed", {}, false);
    add("all alike, transfers too", everyone(1), true);
    add("all alike", everyone(1), false);
    add("transfers at their median", {}, true);
    add_slowest();
    add_ranks();
    add_nodes();
    return std::move(scenarios_);
  }

 private:
  std::vector<std::uint8_t> everyone(std::uint8_t is_alike) const {
    return std::vector<std::uint8_t>(replay_.n_processes(), is_alike);
  }
  Scenario& add(std::string words, std::vector<std::uint8_t> is_alike, bool has_alike_transfers) {
    if (is_alike.empty()) is_alike = everyone(0);
    return scenarios_.emplace_back(
        Scenario{std::move(words), Subject::kRun, -1, {std::move(is_alike), has_alike_transfers}, false, 0});
  }
  // Processes with the largest excess, those without left out.
  std::vector<std::size_t> slowest(std::size_t most) const {
    std::vector<std::size_t> order(replay_.n_processes());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto& excess_ns = replay_.excess_ns();
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return excess_ns[a] > excess_ns[b]; });
    while (!order.empty() && excess_ns[order.back()] <= 0) order.pop_back();
    if (order.size() > most) order.resize(most);
    return order;
  }
  void add_slowest() {
    const std::size_t n = std::max<std::size_t>(1, (replay_.n_processes() * 3 + 99) / 100);
    std::vector<std::uint8_t> is_alike = everyone(0);
    for (const std::size_t process : slowest(n)) is_alike[process] = 1;
    add(fmt::format("slowest 3 % of ranks ({}) like the others", n), std::move(is_alike), false).is_slowest = true;
  }
  void add_ranks() {
    for (const std::size_t process : slowest(kMostCandidates)) {
      const std::int32_t rank = run_.processes.rank[process];
      const std::string who = rank >= 0 ? fmt::format("rank {}", rank) : fmt::format("process {}", process);
      std::vector<std::uint8_t> is_alike = everyone(0);
      is_alike[process] = 1;
      Scenario& mended = add(who + " like the others", std::move(is_alike), false);
      mended.subject = Subject::kRank;
      mended.number = rank;
      is_alike = everyone(1);
      is_alike[process] = 0;
      Scenario& alone = add("only " + who + " differs", std::move(is_alike), true);
      alone.subject = Subject::kRank;
      alone.number = rank;
      alone.is_cost = true;
    }
  }
  void add_nodes() {
    std::map<std::uint32_t, std::int64_t> excess_ns;
    std::map<std::uint32_t, std::vector<std::uint8_t>> is_alike;
    for (std::size_t process = 0; process < replay_.n_processes(); ++process) {
      const std::uint32_t node = run_.processes.node[process];
      if (node == kNoIndex) continue;
      excess_ns[node] = instant_after(excess_ns[node], replay_.excess_ns()[process]);
      auto& members = is_alike.try_emplace(node, everyone(0)).first->second;
      members[process] = 1;
    }
    if (excess_ns.size() < 2) return;
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    for (const auto& [node, ns] : excess_ns) order.emplace_back(-ns, node);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < std::min(order.size(), kMostCandidates); ++i) {
      const std::uint32_t node = order[i].second;
      const std::string host = node_name(run_, node);
      Scenario& mended = add(fmt::format("node {} like the others", host), std::move(is_alike[node]), false);
      mended.subject = Subject::kNode;
      mended.number = node;
    }
  }

  const RunTables& run_;
  const Replay& replay_;
  std::vector<Scenario> scenarios_;
};

void compute(const Replay& replay, std::vector<Scenario>& scenarios) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < scenarios.size(); i = next++) {
      scenarios[i].time_ns = replay.run(scenarios[i].alternative);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
}

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

std::vector<Column> columns() {
  return {{"scenario", "scenario"},
          {"rank", "rank", Unit::kNone, true},
          {"node", "node", Unit::kNone, true},
          {"time_ns", "time", Unit::kTimeNs},
          {"per_step_ns", "per step", Unit::kTimeNs},
          {"s", "S", Unit::kRatio},
          {"gain", "gain", Unit::kRatio},
          {"share", "share", Unit::kRatio}};
}

struct Reference {
  std::int64_t replayed_ns = 0;
  std::int64_t ideal_ns = 0;  // all alike, transfers too
  std::int64_t alike_ns = 0;
  std::uint32_t n_steps = 0;
};

Row row_of(const RunTables& run, const Scenario& scenario, const Reference& reference) {
  const auto known = [](bool is_known, double value) {
    return is_known && std::isfinite(value) ? Cell{value} : Cell{Missing{}};
  };
  const bool is_mended = !scenario.is_cost && scenario.time_ns != reference.replayed_ns;
  const double gain = 1 - ratio(scenario.time_ns, reference.replayed_ns);
  const double gain_of_all = 1 - ratio(reference.alike_ns, reference.replayed_ns);
  const Cell host = scenario.subject == Subject::kNode
                        ? Cell{node_name(run, static_cast<std::uint32_t>(scenario.number))}
                        : Cell{Missing{}};
  return {scenario.words,
          scenario.subject == Subject::kRank && scenario.number >= 0 ? Cell{scenario.number} : Cell{Missing{}},
          host,
          scenario.time_ns,
          reference.n_steps > 0 ? Cell{scenario.time_ns / std::int64_t{reference.n_steps}} : Cell{Missing{}},
          scenario.is_cost ? known(reference.ideal_ns > 0, ratio(scenario.time_ns, reference.ideal_ns))
                           : known(scenario.time_ns > 0 && is_mended, ratio(reference.replayed_ns, scenario.time_ns)),
          known(!scenario.is_cost && reference.replayed_ns > 0, gain),
          known(scenario.is_slowest && gain_of_all > 0, gain / gain_of_all)};
}

const Scenario* best_rank(const std::vector<Scenario>& scenarios) {
  const Scenario* best = nullptr;
  for (const Scenario& scenario : scenarios) {
    const bool is_candidate = scenario.subject == Subject::kRank && !scenario.is_cost;
    if (is_candidate && (best == nullptr || scenario.time_ns < best->time_ns)) best = &scenario;
  }
  return best;
}

std::string verdict_of(const std::vector<Scenario>& scenarios, const Reference& reference, Table& table) {
  const double s = ratio(reference.replayed_ns, reference.ideal_ns);
  if (s >= kStragglingFrom) table.finding = Finding::kWarning;
  std::string text = fmt::format(
      "S = {:.3f}: with all ranks alike and transfers at their median the job would take {:.1f} % less time", s,
      100 * (1 - 1 / s));
  if (const Scenario* best = best_rank(scenarios)) {
    const double gain = 1 - ratio(best->time_ns, reference.replayed_ns);
    if (gain >= 0.005) text += fmt::format("; {}: {:.1f} %", best->words, 100 * gain);
  }
  return text;
}

}  // namespace

bool whatif_wants(std::string_view path) {
  return path.starts_with("/job/") || arrivals_want(path) || path == "/collectives/size_bytes" ||
         path == "/collectives/coll";
}

Table whatif(const RunTables& run, const StudyOptions& options) {
  Table table;
  table.study = kWhatif.name;
  table.columns = columns();
  const Scope scope(run, options);
  const Arrivals arrivals = find_arrivals(run, scope, options);
  const Judged judged = judged_instances(arrivals);
  const Replay replay(run, scope, arrivals, judged.is_counted);
  table.heading = fmt::format("{} collectives of {}, by {}", replay.n_instances(), scope.words(),
                              arrivals.is_gpu ? "GPU times" : "host times: enqueue, not transfer");
  if (replay.n_instances() == 0 || replay.measured_ns() <= 0) {
    table.verdict = "nothing to replay";
    table.empty_reason = why_no_arrivals(run, options, arrivals, judged);
    return table;
  }
  std::vector<Scenario> scenarios = Scenarios(run, replay).list();
  compute(replay, scenarios);
  const Reference reference{scenarios[0].time_ns, scenarios[1].time_ns, scenarios[2].time_ns, scope.n_steps()};
  const double fidelity = std::abs(ratio(reference.replayed_ns, replay.measured_ns()) - 1);
  table.parameters.emplace_back("recorded_ns", replay.measured_ns());
  table.parameters.emplace_back("fidelity", fidelity);
  if (fidelity > kFidelity) {
    table.verdict = "no prediction: the model does not reproduce the run";
    table.empty_reason = fmt::format("replayed {}, recorded {}: {:.1f} % apart, more than 2 %",
                                     human_time(static_cast<double>(reference.replayed_ns)),
                                     human_time(static_cast<double>(replay.measured_ns())), 100 * fidelity);
    return table;
  }
  for (const Scenario& scenario : scenarios) {
    table.rows.push_back(row_of(run, scenario, reference));
  }
  table.verdict = verdict_of(scenarios, reference, table);
  table.notes.push_back(fmt::format("recorded {}, replayed {}: {:.2f} % apart",
                                    human_time(static_cast<double>(replay.measured_ns())),
                                    human_time(static_cast<double>(reference.replayed_ns)), 100 * fidelity));
  table.notes.emplace_back("definitions: jaxprof-study whatif --explain");
  return table;
}

}  // namespace jaxprof::study
