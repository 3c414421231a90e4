#include "merge/study/straggler_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "merge/runfile/rank_ranges.h"
#include "merge/study/arrival_words.h"
#include "merge/study/human.h"
#include "merge/study/port_traffic.h"

namespace jaxprof::study {
namespace {

Finding finding_of(double impact) {
  return impact >= kCriticalImpact ? Finding::kCritical : impact >= kWarningImpact ? Finding::kWarning : Finding::kNone;
}

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

// By lane, what it is one of, counted from 0: nodes, ranks or GPUs.
std::vector<std::uint32_t> groups_of(const StragglerFacts& facts, Level level) {
  std::vector<std::int64_t> keys;
  for (std::uint32_t lane = 0; lane < facts.lanes().size(); ++lane) {
    const Subject& s = facts.lanes().at(lane);
    const std::int64_t of_rank = s.rank >= 0 ? s.rank : -1 - std::int64_t{lane};
    keys.push_back(level == Level::kNode ? s.node : level == Level::kRank ? of_rank : std::int64_t{lane});
  }
  std::vector<std::int64_t> distinct = keys;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::uint32_t> group_of;
  for (const std::int64_t key : keys) {
    group_of.push_back(
        static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), key) - distinct.begin()));
  }
  return group_of;
}

// Steps by their numbers: "steps 8-10".
std::string step_list(const StragglerFacts& facts, const std::vector<std::uint32_t>& steps) {
  std::string text;
  const auto number = [&facts](std::uint32_t step) { return facts.scope().axis().steps()[step].step; };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < steps.size() && steps[last + 1] == steps[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", number(steps[i]));
    if (last > i) text += fmt::format("-{}", number(steps[last]));
    i = last;
  }
  return (steps.size() == 1 ? "step " : "steps ") + text;
}

// "cause: compute (92 % of its lateness; SM clock …)"
std::string cause_words(const runfile::RunTables& run, const StragglerFacts& facts, const Judgement& j,
                        const std::vector<std::uint32_t>& steps) {
  if (!facts.own().has_work) return "cause unknown: the run file has no kernels or copies";
  const CauseSplit& split = j.culprit.split;
  if (j.cause.cause == Cause::kNone) return "cause unknown: its own time is not longer than that of its peers";
  if (j.cause.cause == Cause::kUnattributed) {
    const auto part = [](std::int64_t ns) { return human_time(static_cast<double>(ns)); };
    return fmt::format("no single cause: of {} more than its peers {} compute, {} host, {} copies, {} other",
                       part(split.sum_ns()), part(split.compute_ns), part(split.host_ns), part(split.copy_ns),
                       part(split.rest_ns));
  }
  std::string why;
  if (j.cause.cause == Cause::kCompute) {
    std::vector<std::int32_t> devices;
    for (const std::uint32_t lane : j.culprit.lanes) devices.push_back(facts.lanes().at(lane).device);
    why = gpu_evidence(run, devices, when_of(facts, steps));
  }
  const char* what = j.cause.cause == Cause::kCompute ? "slow kernels"
                     : j.cause.cause == Cause::kHost  ? "its host launches late"
                                                      : "copies and sets of memory";
  return fmt::format("cause: {} ({}{}), {} of its lateness", word(j.cause.cause), what, why.empty() ? "" : ": " + why,
                     percent(j.cause.share));
}

std::string network_words(const runfile::RunTables& run, const StragglerFacts& facts, const Judgement& j) {
  if (j.port) return words_of(run, *j.port);
  const PortEvidence& ports = facts.slow_ports();
  if (!ports.has_counters) return "no counters of network ports were recorded";
  if (ports.is_too_coarse && ports.n_ports == 0) return "counters of ports: sampling too coarse for these steps";
  return fmt::format("none of {} stands out", count_of(ports.n_ports, "port"));
}

// Steps that something holds back, and by whom.
struct BadSteps {
  std::vector<std::uint32_t> steps;
  std::map<std::string, std::vector<std::uint32_t>> by_name;
  std::map<std::string, double> impact_by_name;
  double impact = 0;  // of the scope
};

BadSteps bad_steps(const runfile::RunTables& run, const StragglerFacts& facts) {
  BadSteps bad;
  for (const Judgement& j : facts.by_step()) {
    if (j.level == Level::kNone || j.impact < kBadStep) continue;
    const std::string name = name_of(run, facts, j);
    const double impact =
        j.impact * static_cast<double>(j.length_ns) / std::max(1.0, static_cast<double>(facts.length_ns()));
    bad.steps.push_back(j.step);
    bad.by_name[name].push_back(j.step);
    bad.impact_by_name[name] += impact;
    bad.impact += impact;
  }
  return bad;
}

Verdict of_bad_steps(const runfile::RunTables& run, const StragglerFacts& facts, const BadSteps& bad) {
  const auto worst = std::max_element(bad.impact_by_name.begin(), bad.impact_by_name.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  Verdict verdict;
  verdict.finding = finding_of(bad.impact);
  const std::string of_all = fmt::format("{} of {}", bad.steps.size(), count_of(facts.steps().size(), "step"));
  constexpr double kMostOfIt = 0.75;
  if (worst->second >= kMostOfIt * bad.impact) {
    const auto& steps = bad.by_name.at(worst->first);
    const auto first = std::find_if(facts.by_step().begin(), facts.by_step().end(),
                                    [&steps](const Judgement& j) { return j.step == steps.front(); });
    verdict.judgement = *first;
    const bool is_network = first->level == Level::kNic || first->level == Level::kNetwork;
    verdict.text = fmt::format("{} held back {} of {} ({}): {} of all GPU time; {}", worst->first, steps.size(),
                               count_of(facts.steps().size(), "step"), step_list(facts, steps), percent(worst->second),
                               is_network ? network_words(run, facts, *first) : cause_words(run, facts, *first, steps));
    return verdict;
  }
  std::size_t most_steps = 0;
  for (const auto& [name, steps] : bad.by_name) most_steps = std::max(most_steps, steps.size());
  verdict.text = fmt::format(
      "lateness moves: {} were held back by {} different ones, none more than {} times; {} of all "
      "GPU time is spent waiting for them; --by step shows who and why",
      of_all, bad.by_name.size(), most_steps, percent(bad.impact));
  return verdict;
}

std::optional<Verdict> of_culprit(const runfile::RunTables& run, const StragglerFacts& facts) {
  const Judgement& j = facts.of_scope();
  const bool is_network = j.level == Level::kNic || j.level == Level::kNetwork;
  if (j.level == Level::kNone || is_network) return std::nullopt;
  const std::vector<std::uint32_t> group_of = groups_of(facts, j.level);
  const std::vector<Persistence> of_groups = persistences(facts, group_of);
  const auto n = static_cast<double>(of_groups.size());
  const Persistence& often = of_groups[group_of[j.culprit.lanes.front()]];
  if (often.share() <= std::min(0.5, 3 / n) || (often.p && *often.p >= kMostP)) return std::nullopt;
  Verdict verdict;
  verdict.judgement = j;
  verdict.finding = finding_of(j.impact);
  verdict.text = fmt::format("{} holds the job back: {} of all GPU time is spent waiting for it; {}; {} in {} of {}",
                             name_of(run, facts, j), percent(j.impact), cause_words(run, facts, j, facts.steps()),
                             often.is_of_steps ? "most to blame" : "last", often.n_most,
                             count_of(often.n, often.is_of_steps ? "step" : "instance"));
  return verdict;
}

// Of so few steps, in how many instances one of the group was last.
void count_instances(const StragglerFacts& facts, const std::vector<std::uint32_t>& group_of,
                     std::vector<Persistence>& found) {
  for (Persistence& often : found) {
    often.is_of_steps = false;
    often.n_most = 0;
    often.n = 0;
  }
  for (std::size_t unit = 0; unit < facts.units().size(); ++unit) {
    Persistence& often = found[group_of[facts.lane_of_unit()[unit]]];
    often.n_most += static_cast<std::size_t>(facts.fault().n_last[unit]);
    often.n += static_cast<std::size_t>(facts.fault().n_instances[unit]);
  }
}

std::optional<Verdict> of_network(const runfile::RunTables& run, const StragglerFacts& facts) {
  const Judgement& j = facts.of_scope();
  if (j.level != Level::kNic && j.level != Level::kNetwork) return std::nullopt;
  Verdict verdict;
  verdict.judgement = j;
  if (j.impact > 0) {
    verdict.finding = finding_of(j.impact);
    verdict.text = fmt::format(
        "slow transfers, not a late rank: {} of all GPU time is spent in what they take longer than "
        "usual; {}",
        percent(j.impact), network_words(run, facts, j));
  } else {
    verdict.finding = Finding::kWarning;
    verdict.text = fmt::format(
        "no rank is late, but a network port is slow all the time: {}; transfers between nodes take "
        "{} of all GPU time",
        network_words(run, facts, j), percent(facts.network_share()));
  }
  return verdict;
}

}  // namespace

double sign_test_p(std::size_t n_above, std::size_t n) {
  if (n == 0 || n_above == 0) return 1;
  // ln of the binomial's terms, since 2^-n leaves the range of doubles.
  const double log_half = std::log(0.5) * static_cast<double>(n);
  const auto log_choose = [n](std::size_t k) {
    const auto of = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
    return of(n) - of(k) - of(n - k);
  };
  double p = 0;
  for (std::size_t k = n_above; k <= n; ++k) p += std::exp(log_choose(k) + log_half);
  return std::min(1.0, p);
}

std::vector<Persistence> persistences(const StragglerFacts& facts, const std::vector<std::uint32_t>& group_of) {
  const std::size_t n_groups = group_of.empty() ? 0 : *std::max_element(group_of.begin(), group_of.end()) + 1;
  std::vector<Persistence> found(n_groups);
  if (n_groups == 0) return found;
  std::vector<std::size_t> n_signs(n_groups), n_above(n_groups), now(n_groups);
  std::vector<std::int64_t> fault_ns(n_groups), own_ns(n_groups);
  for (const std::uint32_t step : facts.steps()) {
    std::fill(fault_ns.begin(), fault_ns.end(), 0);
    std::fill(own_ns.begin(), own_ns.end(), 0);
    for (std::size_t lane = 0; lane < group_of.size(); ++lane) {
      std::int64_t& fault = fault_ns[group_of[lane]];
      std::int64_t& own = own_ns[group_of[lane]];
      fault = instant_after(fault, facts.lane_fault_ns(step, lane));
      own = instant_after(own, facts.excess()[facts.own().at(step, lane)].sum_ns());
    }
    const auto most = static_cast<std::size_t>(std::max_element(fault_ns.begin(), fault_ns.end()) - fault_ns.begin());
    for (std::size_t group = 0; group < n_groups; ++group) {
      const bool is_most = group == most && fault_ns[most] > 0;
      found[group].n_most += is_most ? 1 : 0;
      now[group] = is_most ? now[group] + 1 : 0;
      found[group].longest = std::max(found[group].longest, now[group]);
      n_signs[group] += own_ns[group] != 0 ? 1 : 0;
      n_above[group] += own_ns[group] > 0 ? 1 : 0;
    }
  }
  for (std::size_t group = 0; group < n_groups; ++group) {
    found[group].n = facts.steps().size();
    if (n_signs[group] >= kLeastSigns) found[group].p = sign_test_p(n_above[group], n_signs[group]);
  }
  if (facts.steps().size() < kLeastSteps) count_instances(facts, group_of, found);
  return found;
}

std::string name_of(const runfile::RunTables& run, const StragglerFacts& facts, const Judgement& j) {
  if (j.level == Level::kNetwork) return "the network";
  if (j.level == Level::kNic && j.port) {
    return fmt::format("port {} of {}", name_of_port(run, j.port->nic), host_of_port(run, j.port->nic));
  }
  if (j.culprit.lanes.empty()) return "nobody";
  const Subject& s = facts.lanes().at(j.culprit.lanes.front());
  std::vector<std::int32_t> ranks;
  for (const std::uint32_t lane : j.culprit.lanes) ranks.push_back(facts.lanes().at(lane).rank);
  if (j.level == Level::kNode) return fmt::format("node {} ({})", node_name(run, s.node), runfile::rank_ranges(ranks));
  std::string where = "node " + node_name(run, s.node);
  if (s.device >= 0 && run.devices.ordinal[static_cast<std::size_t>(s.device)] >= 0 && j.level == Level::kGpu) {
    where += fmt::format(", GPU {}", run.devices.ordinal[static_cast<std::size_t>(s.device)]);
  }
  const auto process =
      std::find(run.processes.rank.begin(), run.processes.rank.end(), s.rank) - run.processes.rank.begin();
  if (s.rank >= 0 && run.processes.local_rank[static_cast<std::size_t>(process)] >= 0) {
    where += fmt::format(", local rank {}", run.processes.local_rank[static_cast<std::size_t>(process)]);
  }
  return fmt::format("{} ({})", s.rank >= 0 ? fmt::format("rank {}", s.rank) : "a process of unknown rank", where);
}

Verdict straggler_verdict(const runfile::RunTables& run, const StragglerFacts& facts) {
  if (auto verdict = of_culprit(run, facts)) return *verdict;
  const BadSteps bad = bad_steps(run, facts);
  if (!bad.steps.empty() && bad.impact >= kWorthAWord && facts.scope().has_steps())
    return of_bad_steps(run, facts, bad);
  if (auto verdict = of_network(run, facts)) return *verdict;
  const Fault& fault = facts.fault();
  const double waiting =
      static_cast<double>(facts.of_scope().wait_ns) / std::max(1.0, static_cast<double>(facts.gpu_time_ns()));
  Verdict verdict;
  if (fault.n_resolved == 0 && fault.n_unresolved > 0) {
    verdict.text = fmt::format(
        "unresolved: in all {} members came closer together than the clocks of the nodes can tell; "
        "nobody is blamed",
        count_of(fault.n_unresolved, "instance"));
    return verdict;
  }
  verdict.text =
      fmt::format("no straggler: {} of all GPU time is spent waiting for late members, for nobody at least {}",
                  percent(waiting), percent(kWorthAWord));
  if (fault.n_unresolved > 0) {
    verdict.text += fmt::format("; unresolved: {} of {}", fault.n_unresolved,
                                count_of(fault.n_resolved + fault.n_unresolved, "instance"));
  }
  if (!facts.of_scope().is_certain && fault.n_resolved > 0)
    verdict.text += "; most of it is not certain, clocks may be wrong by more";
  return verdict;
}

}  // namespace jaxprof::study
