// The facts summed up by subject, or told step by step, under the verdict.
#include "merge/study/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "merge/study/arrival_words.h"
#include "merge/study/distribution.h"
#include "merge/study/port_traffic.h"
#include "merge/study/select_percentile.h"
#include "merge/study/straggler_verdict.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// Sums of one subject.
struct SubjectSums {
  std::int64_t wait_ns = 0;
  std::int64_t blame_ns = 0;
  std::int64_t fault_ns = 0;
  std::int64_t last_only_ns = 0;
  std::int64_t n_instances = 0;
  std::int64_t n_last = 0;
  std::int64_t n_last_certain = 0;
  std::vector<std::int64_t> late_ns;
  std::vector<std::uint32_t> lanes;
};

Cell name_or_missing(std::string_view text) {
  return text.empty() ? Cell{Missing{}} : Cell{std::string(text)};
}

Cell real(const std::optional<double>& value) {
  return value ? Cell{*value} : Cell{Missing{}};
}

std::vector<Column> columns_of_subjects(std::vector<Column> all) {
  const std::vector<Column> rest = {{"fault_ns", "fault", Unit::kTimeNs},
                                    {"share", "share", Unit::kRatio},
                                    {"blame_ns", "blame", Unit::kTimeNs},
                                    {"wait_ns", "wait", Unit::kTimeNs},
                                    {"impact", "impact", Unit::kRatio},
                                    {"last_share", "last", Unit::kRatio},
                                    {"late_p50_ns", "late p50", Unit::kTimeNs},
                                    {"late_p95_ns", "late p95", Unit::kTimeNs},
                                    {"most", "most", Unit::kNone},
                                    {"persistence", "run", Unit::kNone, true},
                                    {"p", "p", Unit::kNone, true},
                                    {"score", "score", Unit::kNone, true},
                                    {"cause", "cause"},
                                    {"cause_share", "of q", Unit::kRatio},
                                    {"level", "level"},
                                    {"certain", "certain"},
                                    {"compute_excess_ns", "compute", Unit::kTimeNs, true},
                                    {"host_excess_ns", "host", Unit::kTimeNs, true},
                                    {"copy_excess_ns", "copy", Unit::kTimeNs, true},
                                    {"rest_excess_ns", "rest", Unit::kTimeNs, true},
                                    {"last_only_ns", "last only", Unit::kTimeNs, true},
                                    {"instances", "instances", Unit::kNone, true},
                                    {"positions", "positions", Unit::kNone, true}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

class SubjectRows {
 public:
  SubjectRows(const RunTables& run, const StudyOptions& options, const StragglerFacts& facts)
      : run_(run),
        options_(options),
        facts_(facts),
        by_(options.by.value_or(By::kRank)),
        subjects_(run, facts.arrivals(), by_),
        sums_(subjects_.size()) {}

  void fill(Table& table) {
    sum_up();
    find_persistence();
    table.columns = columns_of_subjects(subjects_.columns());
    std::vector<std::size_t> order(subjects_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [this](std::size_t i) { return sums_[i].n_instances == 0 || !is_shown(i); });
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return sums_[a].fault_ns > sums_[b].fault_ns; });
    for (const std::size_t subject : order) table.rows.push_back(row_of(subject));
  }

 private:
  bool is_shown(std::size_t subject) const {
    const Subject& s = subjects_.at(subject);
    if (by_ == By::kComm) return true;
    if (by_ != By::kNode) return is_rank_wanted(s.rank, options_);
    return std::any_of(s.ranks.begin(), s.ranks.end(),
                       [this](std::int32_t rank) { return is_rank_wanted(rank, options_); });
  }

  void sum_up() {
    const Arrivals& arrivals = facts_.arrivals();
    std::vector<std::uint32_t> subject_of_unit(facts_.units().size(), 0);
    for (std::size_t i = 0; i < arrivals.members.call.size(); ++i) {
      subject_of_unit[facts_.units().of(i)] = subjects_.of(i);
    }
    const Fault& fault = facts_.fault();
    for (std::size_t unit = 0; unit < subject_of_unit.size(); ++unit) {
      SubjectSums& sums = sums_[subject_of_unit[unit]];
      sums.wait_ns = instant_after(sums.wait_ns, fault.total(fault.wait_ns, unit));
      sums.blame_ns = instant_after(sums.blame_ns, fault.total(fault.blame_ns, unit));
      sums.fault_ns = instant_after(sums.fault_ns, fault.total(fault.fault_ns, unit));
      sums.last_only_ns = instant_after(sums.last_only_ns, fault.last_only_ns[unit]);
      sums.n_instances += fault.n_instances[unit];
      sums.n_last += fault.n_last[unit];
      sums.n_last_certain += fault.n_last_certain[unit];
      sums.lanes.push_back(facts_.lane_of_unit()[unit]);
      total_fault_ns_ = instant_after(total_fault_ns_, fault.total(fault.fault_ns, unit));
    }
    total_fault_ns_ = instant_after(total_fault_ns_, facts_.of_scope().network_ns);
    for (SubjectSums& sums : sums_) {
      std::sort(sums.lanes.begin(), sums.lanes.end());
      sums.lanes.erase(std::unique(sums.lanes.begin(), sums.lanes.end()), sums.lanes.end());
    }
    for (std::size_t instance = 0; instance < arrivals.size(); ++instance) {
      if (facts_.judged().is_counted[instance] == 0) continue;
      for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
        const std::int64_t late_ns = fault.lateness.after_first_ns[i];
        if (late_ns != kNoLateness) sums_[subjects_.of(i)].late_ns.push_back(late_ns);
      }
    }
  }

  // Of ranks, GPUs and nodes; a lane belongs to several communicators.
  bool is_of_lanes() const { return by_ == By::kRank || by_ == By::kGpu || by_ == By::kNode; }

  // "3 of 8 in 0, 1 of 2 in 4": place in each communicator.
  Cell positions(std::size_t subject) const {
    if (by_ != By::kRank && by_ != By::kGpu) return Missing{};
    std::string text;
    for (std::size_t unit = 0; unit < facts_.units().size(); ++unit) {
      const Subject& s = facts_.units().at(unit);
      const std::uint32_t lane = facts_.lane_of_unit()[unit];
      const bool is_own = std::binary_search(sums_[subject].lanes.begin(), sums_[subject].lanes.end(), lane);
      if (!is_own || s.comm == kNoIndex || s.comm_rank < 0) continue;
      const std::uint32_t size = run_.comms.n_ranks[s.comm];
      text += fmt::format("{}{}{} in {}", text.empty() ? "" : ", ", s.comm_rank,
                          size == kNoIndex ? "" : fmt::format(" of {}", size), s.comm);
    }
    return name_or_missing(text);
  }

  CauseSplit excess_of(const SubjectSums& sums) const {
    CauseSplit split;
    for (const std::uint32_t step : facts_.steps()) {
      for (const std::uint32_t lane : sums.lanes) split.add(facts_.excess()[facts_.own().at(step, lane)]);
    }
    return split;
  }

  Level level_of(const SubjectSums& sums, const NamedCause& cause) const {
    const Judgement& j = facts_.of_scope();
    const bool is_in_node = j.level == Level::kNode && std::includes(j.culprit.lanes.begin(), j.culprit.lanes.end(),
                                                                     sums.lanes.begin(), sums.lanes.end());
    if (is_in_node || by_ == By::kNode) return Level::kNode;
    if (by_ == By::kMember) return Level::kMember;
    return by_ == By::kGpu || (cause.cause == Cause::kCompute && sums.lanes.size() == 1) ? Level::kGpu : Level::kRank;
  }

  // By subject; none where a lane belongs to several.
  void find_persistence() {
    if (!is_of_lanes()) return;
    std::vector<std::uint32_t> group_of(facts_.lanes().size(), 0);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      for (const std::uint32_t lane : sums_[i].lanes) group_of[lane] = static_cast<std::uint32_t>(i);
    }
    often_ = persistences(facts_, group_of);
  }

  Row row_of(std::size_t subject) {
    SubjectSums& sums = sums_[subject];
    const double share =
        total_fault_ns_ > 0 ? static_cast<double>(sums.fault_ns) / static_cast<double>(total_fault_ns_) : 0;
    const double impact = static_cast<double>(sums.fault_ns) / std::max(1.0, static_cast<double>(facts_.gpu_time_ns()));
    const bool has_split = is_of_lanes() && facts_.own().has_work;
    const CauseSplit split = has_split ? excess_of(sums) : CauseSplit{};
    const bool is_worth_a_word = is_of_lanes() && impact >= kWorthAWord;
    const NamedCause cause = has_split && is_worth_a_word ? name_cause(split) : NamedCause{};
    const Persistence often = subject < often_.size() ? often_[subject] : Persistence{};
    const auto n = static_cast<double>(subjects_.size());
    const auto percentile_at = [&sums](double at) {
      const bool is_there = !sums.late_ns.empty() && (at == 0.5 || sums.late_ns.size() >= kMinForP05);
      return is_there ? Cell{select_percentile(sums.late_ns, at)} : Cell{Missing{}};
    };
    const auto when = [](bool is_known, std::int64_t value) { return is_known ? Cell{value} : Cell{Missing{}}; };
    Row row = subjects_.cells(subject);
    const Row rest = {sums.fault_ns,
                      share,
                      sums.blame_ns,
                      sums.wait_ns,
                      impact,
                      static_cast<double>(sums.n_last) / static_cast<double>(sums.n_instances),
                      percentile_at(0.5),
                      percentile_at(0.95),
                      when(is_of_lanes() && often.is_of_steps, static_cast<std::int64_t>(often.n_most)),
                      when(is_of_lanes() && often.is_of_steps, static_cast<std::int64_t>(often.longest)),
                      real(is_of_lanes() ? often.p : std::nullopt),
                      n > 1 ? Cell{std::max(0.0, 100 * (share * n - 1) / (n - 1))} : Cell{Missing{}},
                      name_or_missing(word(cause.cause)),
                      cause.cause == Cause::kNone ? Cell{Missing{}} : Cell{cause.share},
                      is_worth_a_word ? name_or_missing(word(level_of(sums, cause))) : Cell{Missing{}},
                      fmt::format("{} of {}", sums.n_last_certain, sums.n_last),
                      when(has_split, split.compute_ns),
                      when(has_split, split.host_ns),
                      when(has_split, split.copy_ns),
                      when(has_split, split.rest_ns),
                      sums.last_only_ns,
                      sums.n_instances,
                      positions(subject)};
    row.insert(row.end(), rest.begin(), rest.end());
    return row;
  }

  const RunTables& run_;
  const StudyOptions& options_;
  const StragglerFacts& facts_;
  By by_;
  Subjects subjects_;
  std::vector<SubjectSums> sums_;
  std::vector<Persistence> often_;
  std::int64_t total_fault_ns_ = 0;
};

std::vector<Column> columns_of_steps() {
  return {{"step", "step"},
          {"level", "level"},
          {"rank", "rank"},
          {"node", "node"},
          {"port", "port"},
          {"impact", "impact", Unit::kRatio},
          {"share", "share", Unit::kRatio},
          {"cause", "cause"},
          {"cause_share", "of q", Unit::kRatio},
          {"length_ns", "length", Unit::kTimeNs},
          {"wait_ns", "wait", Unit::kTimeNs},
          {"worst_rank", "most fault", Unit::kNone, true},
          {"worst_fault_ns", "its fault", Unit::kTimeNs, true},
          {"transfer_excess_ns", "slow transfers", Unit::kTimeNs, true},
          {"resolved", "resolved"},
          {"certain", "certain", Unit::kNone, true}};
}

Row row_of_step(const RunTables& run, const StragglerFacts& facts, const Judgement& j) {
  const bool is_of_members = j.level == Level::kGpu || j.level == Level::kRank || j.level == Level::kNode;
  const bool is_known = j.level != Level::kNone;
  const Subject* worst = j.culprit.lanes.empty() ? nullptr : &facts.lanes().at(j.culprit.lanes.front());
  const auto rank = [](const Subject* s) {
    return s == nullptr || s->rank < 0 ? Cell{Missing{}} : Cell{std::int64_t{s->rank}};
  };
  Cell node = Missing{};
  if (is_of_members) node = node_name(run, worst->node);
  if (j.port) node = host_of_port(run, j.port->nic);
  const auto if_known = [is_known = is_known && j.impact > 0](double value) {
    return is_known ? Cell{value} : Cell{Missing{}};
  };
  return {facts.scope().has_steps() ? Cell{facts.scope().axis().steps()[j.step].step} : Cell{Missing{}},
          name_or_missing(word(j.level)),
          is_of_members && j.level != Level::kNode ? rank(worst) : Cell{Missing{}},
          node,
          j.port ? Cell{name_of_port(run, j.port->nic)} : Cell{Missing{}},
          if_known(j.impact),
          if_known(j.share),
          name_or_missing(word(j.cause.cause)),
          j.cause.cause == Cause::kNone ? Cell{Missing{}} : Cell{j.cause.share},
          j.length_ns,
          j.wait_ns,
          rank(worst),
          j.culprit.fault_ns,
          j.network_ns,
          fmt::format("{} of {}", j.n_resolved, j.n_instances),
          std::int64_t{j.is_certain ? 1 : 0}};
}

void add_notes(const RunTables& run, const StragglerFacts& facts, Table& table) {
  add_arrival_notes(run, facts.arrivals(), facts.judged(), table);
  if (facts.fault().n_rooted > 0) {
    table.notes.push_back(
        fmt::format("left out: {} of operations in which early members do not wait (Broadcast, Reduce, "
                    "Gather, Scatter)",
                    count_of(facts.fault().n_rooted, "instance")));
  }
  if (!facts.own().has_work) {
    table.notes.emplace_back(
        "causes are empty: the run file has no kernels or copies; record them with -t cuda,nccl,nvtx");
  }
  table.notes.emplace_back("definitions: jaxprof-study stragglers --explain");
}

void add_parameters(const StragglerFacts& facts, const Verdict& verdict, Table& table) {
  const Fault& fault = facts.fault();
  const Judgement& j = verdict.judgement;
  std::int64_t wait_ns = 0;
  std::int64_t fault_ns = 0;
  for (const std::int64_t ns : fault.wait_ns) wait_ns = instant_after(wait_ns, ns);
  for (const std::int64_t ns : fault.fault_ns) fault_ns = instant_after(fault_ns, ns);
  table.parameters = {{"source", std::string(facts.arrivals().is_gpu ? "gpu" : "host")},
                      {"instances", static_cast<std::int64_t>(fault.n_resolved)},
                      {"unresolved", static_cast<std::int64_t>(fault.n_unresolved)},
                      {"gpus", static_cast<std::int64_t>(facts.lanes().size())},
                      {"scope_ns", facts.length_ns()},
                      {"wait_ns", wait_ns},
                      {"fault_ns", fault_ns},
                      {"removable_ns", fault.removable_ns},
                      {"verdict_level", name_or_missing(word(j.level))},
                      {"verdict_cause", name_or_missing(word(j.cause.cause))},
                      {"verdict_impact", j.level == Level::kNone ? Cell{Missing{}} : Cell{j.impact}}};
}

Result<Table> table_of(const RunTables& run, const RunFileReader* reader, const StudyOptions& options) {
  const auto facts = StragglerFacts::gather(run, reader, options);
  if (!facts) return tl::unexpected(facts.error());
  Table table;
  table.study = kStragglers.name;
  table.heading = arrival_heading(facts->arrivals(), facts->scope(), facts->judged());
  if (facts->judged().n == 0) {
    table.columns =
        options.by == By::kStep
            ? columns_of_steps()
            : columns_of_subjects(Subjects(run, facts->arrivals(), options.by.value_or(By::kRank)).columns());
    table.verdict = "nobody can be judged";
    table.empty_reason = why_no_arrivals(run, options, facts->arrivals(), facts->judged());
    return table;
  }
  const Verdict verdict = straggler_verdict(run, *facts);
  table.verdict = verdict.text;
  table.finding = verdict.finding;
  add_parameters(*facts, verdict, table);
  if (options.by == By::kStep) {
    table.columns = columns_of_steps();
    for (const Judgement& j : facts->by_step()) table.rows.push_back(row_of_step(run, *facts, j));
  } else {
    SubjectRows(run, options, *facts).fill(table);
  }
  add_notes(run, *facts, table);
  if (table.rows.empty()) {
    table.empty_reason = facts->fault().n_resolved == 0
                             ? table.verdict
                             : "none of the ranks in these instances fits --ranks " + options.ranks;
  }
  return table;
}

}  // namespace

bool stragglers_want(std::string_view path) {
  return straggler_facts_want(path);
}

Result<Table> stragglers(const StudyRun& run, const StudyOptions& options) {
  return table_of(run.tables, &run.reader, options);
}

Result<Table> stragglers_in_memory(const RunTables& run, const StudyOptions& options) {
  return table_of(run, nullptr, options);
}

}  // namespace jaxprof::study
