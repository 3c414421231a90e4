// What stragglers says.
#include <algorithm>
#include <cmath>

#include "merge/study/stragglers.h"
#include "tests/unit/synthetic/study_claims.h"
#include "tests/unit/synthetic/study_rows.h"

namespace jaxprof::test {
namespace {

using synthetic::InjectedCause;

study::Table ask(const FiledTraining& run, study::By by) {
  study::StudyOptions options;
  options.by = by;
  options.is_for_programs = true;
  auto table = study::stragglers({run.tables(), run.reader()}, options);
  if (table) return std::move(*table);
  study::Table failed;
  failed.verdict = table.error().message;
  return failed;
}

std::string host_of(std::int64_t node) {
  std::string number = std::to_string(node);
  return "node" + std::string(4 - number.size(), '0') + number;
}

bool is_recorded(const FiledTraining& run, const InjectedCause& cause) {
  const auto& ranks = run.tables().processes.rank;
  return cause.ranks.empty() || std::find(ranks.begin(), ranks.end(), cause.ranks.front()) != ranks.end();
}

// Does the row say what was injected, and no more?
std::string fault_of_step(const StudyRows& rows, std::size_t row, const InjectedCause* cause) {
  const std::string level = rows.text(row, "level");
  const std::string why = rows.text(row, "cause");
  const std::string said = "\"" + level + "\" \"" + why + "\" rank " +
                           std::to_string(std::lround(rows.number(row, "rank", -1))) + " " + rows.text(row, "node");
  if (cause == nullptr) return level.empty() ? "" : said + " instead of nobody";
  const std::string expected = said + " instead of " + cause->level + " " + cause->cause;
  if (level != cause->level || why != cause->cause) return expected;
  const bool is_of_rank = level == "rank" || level == "gpu";
  if (is_of_rank && std::lround(rows.number(row, "rank", -1)) != std::int64_t{cause->ranks.front()}) {
    return expected + " of rank " + std::to_string(cause->ranks.front());
  }
  if (cause->node >= 0 && rows.text(row, "node") != host_of(cause->node)) {
    return expected + " of " + host_of(cause->node);
  }
  if (cause->port >= 0 && !rows.text(row, "port").starts_with("mlx5_" + std::to_string(cause->port))) {
    return expected + " of port " + std::to_string(cause->port) + ": " + rows.text(row, "port");
  }
  return "";
}

// "steps 4-6", as the verdict has them.
std::string words_of_injected_steps(const FiledTraining& run) {
  const auto& steps = run.truth().steps;
  std::size_t first = 0;
  while (steps[first].injected.empty()) ++first;
  std::size_t last = steps.size() - 1;
  while (steps[last].injected.empty()) --last;
  return "steps " + std::to_string(first) + "-" + std::to_string(last);
}

// As the verdict names it.
std::string words_of(const InjectedCause& cause) {
  const std::string level = cause.level;
  if (level == "network") return "the network";
  if (level == "nic") return "mlx5_" + std::to_string(cause.port) + " on " + host_of(cause.node);
  if (level == "node") return "node " + host_of(cause.node);
  return "rank " + std::to_string(cause.ranks.front());
}

std::string parameter_text(const study::Table& table, std::string_view name) {
  for (const auto& [key, cell] : table.parameters) {
    if (key == name && std::holds_alternative<std::string>(cell)) return std::get<std::string>(cell);
  }
  return "";
}

}  // namespace

Score judges_each_step(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kStep);
  const StudyRows rows(table);
  Score score;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto step = static_cast<std::size_t>(rows.number(row, "step", 0));
    const auto& injected = run.truth().steps[step].injected;
    const bool has_cause =
        !injected.empty() && std::string(injected.front().cause) != "none" && is_recorded(run, injected.front());
    const std::string fault = fault_of_step(rows, row, has_cause ? &injected.front() : nullptr);
    score.count(fault.empty(), "step " + std::to_string(step) + ": " + fault);
  }
  if (rows.size() == 0) score.count(false, "no rows: " + table.verdict);
  return score;
}

Score names_the_straggler(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kRank);
  const InjectedCause& cause = *main_cause(run);
  if (!is_recorded(run, cause)) return Score::of_run(table.finding == study::Finding::kNone ? "" : table.verdict);
  const bool is_right =
      parameter_text(table, "verdict_level") == cause.level && parameter_text(table, "verdict_cause") == cause.cause &&
      table.verdict.find(words_of(cause)) != std::string::npos && table.finding != study::Finding::kNone;
  return Score::of_run(is_right ? "" : table.verdict);
}

Score names_nobody(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kRank);
  const bool is_right = table.finding == study::Finding::kNone && parameter_text(table, "verdict_level").empty() &&
                        (table.verdict.starts_with("no straggler") || table.verdict.starts_with("unresolved"));
  return Score::of_run(is_right ? "" : table.verdict);
}

Score names_the_slow_steps(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kRank);
  const std::string& verdict = table.verdict;
  const bool is_right = verdict.find(words_of(*main_cause(run))) != std::string::npos &&
                        verdict.find("(" + words_of_injected_steps(run) + ")") != std::string::npos;
  return Score::of_run(is_right ? "" : verdict);
}

Score says_that_lateness_moves(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kRank);
  return Score::of_run(table.verdict.starts_with("lateness moves") ? "" : table.verdict);
}

Score shares_out_waiting(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kRank);
  const StudyRows rows(table);
  double bound_ns = 0;
  for (const double ns : run.tables().collectives.clock_bound_ns) bound_ns += std::isnan(ns) ? 0 : ns;
  const auto n_ranks = static_cast<double>(run.truth().wait_ns.size());
  double wait_ns = 0;
  double blame_ns = 0;
  std::string fault;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto rank = static_cast<std::size_t>(rows.number(row, "rank", 0));
    const double wait = rows.number(row, "wait_ns", 0);
    const double blame = rows.number(row, "blame_ns", 0);
    wait_ns += wait;
    blame_ns += blame;
    const bool is_right = std::abs(wait - run.truth().wait_ns[rank]) <= bound_ns &&
                          std::abs(blame - run.truth().blame_ns[rank]) <= (n_ranks - 1) * bound_ns;
    if (!is_right) fault = "rank " + std::to_string(rank) + " waited " + std::to_string(wait) + " ns";
  }
  if (wait_ns != blame_ns) fault = std::to_string(wait_ns) + " ns of waiting, blamed " + std::to_string(blame_ns);
  return Score::of_run(rows.size() > 0 ? fault : table.verdict);
}

Score can_judge_nobody(const FiledTraining& run) {
  const study::Table table = ask(run, study::By::kRank);
  const bool is_right = table.rows.empty() && !table.empty_reason.empty() && table.finding == study::Finding::kNone;
  return Score::of_run(is_right ? "" : table.verdict);
}

}  // namespace jaxprof::test
