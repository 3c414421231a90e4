// What what-if says.
#include <algorithm>
#include <cmath>

#include "merge/study/whatif.h"
#include "tests/unit/synthetic/study_claims.h"
#include "tests/unit/synthetic/study_rows.h"

namespace jaxprof::test {
namespace {

using synthetic::InjectedCause;

// Of a replayed scenario; NaN if it is not there.
double gain_of(const StudyRows& rows, std::string_view scenario) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.text(row, "scenario") == scenario) return rows.number(row, "gain", std::nan(""));
  }
  return std::nan("");
}

double replayed_ns(const StudyRows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.text(row, "scenario") == "replayed") return rows.number(row, "time_ns", 0);
  }
  return 0;
}

// What the job would have saved: the others wait for the slowest, and all for transfers.
double true_excess_ns(const FiledTraining& run) {
  std::int64_t sum_ns = 0;
  for (const auto& step : run.truth().steps) {
    sum_ns += *std::max_element(step.excess_ns.begin(), step.excess_ns.end()) + step.transfer_excess_ns;
  }
  return static_cast<double>(sum_ns);
}

// Which part of it the study can find: mended is what has the mean of its communicator's members, the slow ones among
// them, and two of eight slow ones, or one of two in a communicator of a node, pull it up.
struct Part {
  double least;
  double most;
};
Part mended_part(const FiledTraining& run) {
  std::uint32_t smallest = UINT32_MAX;
  for (const std::uint32_t size : run.tables().comms.n_ranks) smallest = std::min(smallest, size);
  const InjectedCause* cause = main_cause(run);
  const auto n_slow = cause == nullptr ? 0 : static_cast<double>(cause->ranks.size());
  const auto n_all = static_cast<double>(run.truth().wait_ns.size());
  return {1 - n_slow / std::min(n_all, static_cast<double>(smallest)), 1 - n_slow / n_all};
}

// Close to the true gain, but for what jitter and noise cost the job.
std::string fault_of_gain(const StudyRows& rows, const std::string& scenario, const FiledTraining& run) {
  constexpr double kNoise = 0.012;
  const double gain = gain_of(rows, scenario);
  const double excess = true_excess_ns(run) / replayed_ns(rows);
  const Part part = mended_part(run);
  const bool is_right = gain > 0.95 * part.least * excess - kNoise && gain < 1.05 * part.most * excess + kNoise;
  return is_right ? "" : scenario + " gains " + std::to_string(gain) + ", in truth " + std::to_string(excess);
}

}  // namespace

Score gains_what_the_straggler_cost(const FiledTraining& run) {
  const study::Table table = study::whatif(run.tables(), {});
  const StudyRows rows(table);
  const InjectedCause& cause = *main_cause(run);
  if (cause.node >= 0) {
    std::string host = std::to_string(cause.node);
    host.insert(0, 4 - host.size(), '0');
    return Score::of_run(fault_of_gain(rows, "node node" + host + " like the others", run));
  }
  return Score::of_run(fault_of_gain(rows, "rank " + std::to_string(cause.ranks.front()) + " like the others", run));
}

Score gains_what_transfers_cost(const FiledTraining& run) {
  const study::Table table = study::whatif(run.tables(), {});
  return Score::of_run(fault_of_gain(StudyRows(table), "transfers at their median", run));
}

Score gains_what_all_cost(const FiledTraining& run) {
  const study::Table table = study::whatif(run.tables(), {});
  return Score::of_run(fault_of_gain(StudyRows(table), "all alike, transfers too", run));
}

}  // namespace jaxprof::test
