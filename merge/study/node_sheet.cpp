// Each score from its own table; nodes that lack what it needs have none.
#include "merge/study/node_sheet.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "merge/study/blame.h"
#include "merge/study/distribution.h"
#include "merge/study/kernel_times.h"
#include "merge/study/member_lateness.h"
#include "merge/study/port_traffic.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kLeastNodes = 3;        // to say what is usual; of two either may be the odd one
constexpr std::int64_t kLeastKernels = 20;    // instances of a kernel on a node
constexpr double kLeastPortBytes = 16 << 20;  // a port that moves less is not in use
constexpr std::int64_t kLeastInstances = 20;  // resolved, of a node with others

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool sheet_wants(std::string_view path) {
  return path.starts_with("/job/") || path.starts_with("/clock/nodes") || path.starts_with("/counters/nic/") ||
         arrivals_want(path) || recorded_time_wants(path) || group_axis_wants(path) ||
         path == "/events/kernels/process_offset";
}

class Sheets {
 public:
  Sheets(const StudyRun& run, const StudyOptions& options) : run_(run.tables), options_(options) {
    sheets_.resize(run_.nodes.node.size());
    for (std::uint32_t node = 0; node < sheets_.size(); ++node) sheets_[node].host = node_name(run_, node);
    for (std::size_t process = 0; process < run_.processes.process.size(); ++process) {
      if (NodeSheet* sheet = of_process(process)) {
        ++sheet->n_processes;
        sheet->n_events += known(run_.processes.n_events[process]);
        sheet->n_dropped += known(run_.processes.n_dropped[process]);
      }
    }
  }

  Result<std::vector<NodeSheet>> take(const StudyRun& run) {
    add_clocks();
    add_ports();
    const Scope scope(run_, options_);
    add_arrivals(scope);
    if (auto added = add_kernels(run); !added) return tl::unexpected(std::move(added.error()));
    std::erase_if(sheets_, [](const NodeSheet& sheet) { return sheet.n_processes == 0; });
    return std::move(sheets_);
  }

 private:
  static std::uint64_t known(std::uint64_t count) { return count == kNoRow ? 0 : count; }
  NodeSheet* of_process(std::size_t process) {
    const std::uint32_t node = run_.processes.node[process];
    return node < sheets_.size() ? &sheets_[node] : nullptr;
  }

  void add_clocks() {
    for (std::size_t row = 0; row < run_.clock_nodes.node.size(); ++row) {
      const std::uint32_t node = run_.clock_nodes.node[row];
      if (node < sheets_.size() && std::isfinite(run_.clock_nodes.bound_ns[row])) {
        sheets_[node].clock_bound_ns = run_.clock_nodes.bound_ns[row];
      }
    }
  }

  // A node's slowest port in use, by the rate at which it sent at its busiest.
  void add_ports() {
    std::map<std::uint32_t, double> slowest;
    for (const PortTraffic& port : port_traffic(run_)) {
      const auto& out = port.of(Traffic::kOutBytes);
      if (port.is_netdev || !out || !port.bytes() || *port.bytes() < kLeastPortBytes) continue;
      const auto rate = out->p99_per_s ? out->p99_per_s : out->peak_per_s;
      if (!rate) continue;
      const auto [at, is_new] = slowest.try_emplace(run_.nics.node[port.nic], *rate);
      if (!is_new) at->second = std::min(at->second, *rate);
    }
    if (slowest.size() < kLeastNodes) return;
    std::vector<double> rates;
    for (const auto& [node, rate] : slowest) rates.push_back(rate);
    const double usual = median(rates);
    for (const auto& [node, rate] : slowest) {
      if (node < sheets_.size() && usual > 0) sheets_[node].nic_score = rate / usual;
    }
  }

  struct Meetings {
    std::int64_t n = 0;
    std::int64_t n_last = 0;
    std::int64_t blame_ns = 0;
    std::int64_t own_ns = 0;
    std::int64_t usual_ns = 0;
  };

  void add_arrivals(const Scope& scope) {
    const Arrivals arrivals = find_arrivals(run_, scope, options_);
    const Judged judged = judged_instances(arrivals);
    const MemberLateness lateness = member_lateness(arrivals, judged.is_counted);
    std::vector<Meetings> meetings(sheets_.size());
    BlameSharing sharing;
    std::vector<std::int64_t> blame_ns;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (judged.is_counted[i] == 0 || !arrivals.has(i, kArrivalSynchronizing | kArrivalResolved)) continue;
      const auto starts_ns = arrivals.starts_ns(i);
      blame_ns.assign(starts_ns.size(), 0);
      sharing.share(starts_ns, blame_ns);
      add_instance(arrivals, lateness, i, blame_ns, meetings);
    }
    settle(meetings);
  }

  void add_instance(const Arrivals& arrivals, const MemberLateness& lateness, std::size_t i,
                    const std::vector<std::int64_t>& blame_ns, std::vector<Meetings>& meetings) {
    const std::size_t begin = arrivals.begin(i);
    std::vector<std::uint32_t> nodes;
    for (std::size_t m = begin; m < arrivals.end(i); ++m) {
      const std::uint32_t node = run_.processes.node[arrivals.members.process[m]];
      if (node >= sheets_.size()) continue;
      nodes.push_back(node);
      Meetings& of_node = meetings[node];
      of_node.blame_ns = instant_after(of_node.blame_ns, blame_ns[m - begin]);
      const std::uint32_t previous = arrivals.members.previous[m];
      if (previous != kNoMember && lateness.self_ns[m] != kNoLateness) {
        const std::int64_t own_ns = span_ns(arrivals.members.end_ns[previous], arrivals.members.start_ns[m]);
        of_node.own_ns = instant_after(of_node.own_ns, own_ns);
        of_node.usual_ns = instant_after(of_node.usual_ns, own_ns - lateness.self_ns[m]);
      }
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    if (nodes.size() < 2) return;
    for (const std::uint32_t node : nodes) ++meetings[node].n;
    for (std::size_t m = begin; m < arrivals.end(i); ++m) {
      const std::uint32_t node = run_.processes.node[arrivals.members.process[m]];
      if (node >= sheets_.size() || arrivals.members.start_ns[m] != arrivals.instances.last_ns[i]) continue;
      ++meetings[node].n_last;
      return;
    }
  }

  void settle(const std::vector<Meetings>& meetings) {
    std::int64_t blame_ns = 0;
    for (const Meetings& of_node : meetings) blame_ns = instant_after(blame_ns, of_node.blame_ns);
    const auto has_met = [](const Meetings& of_node) { return of_node.n >= kLeastInstances; };
    const auto n_with_meetings = static_cast<std::size_t>(std::count_if(meetings.begin(), meetings.end(), has_met));
    for (std::size_t node = 0; node < sheets_.size(); ++node) {
      const Meetings& of_node = meetings[node];
      if (!has_met(of_node)) continue;
      NodeSheet& sheet = sheets_[node];
      sheet.last_share = static_cast<double>(of_node.n_last) / static_cast<double>(of_node.n);
      if (blame_ns > 0) sheet.blame_share = static_cast<double>(of_node.blame_ns) / static_cast<double>(blame_ns);
      if (n_with_meetings >= kLeastNodes && of_node.own_ns > 0 && of_node.usual_ns > 0) {
        sheet.own_score = static_cast<double>(of_node.usual_ns) / static_cast<double>(of_node.own_ns);
      }
    }
  }

  // Of compute kernels that every node with GPU work ran often enough.
  Status add_kernels(const StudyRun& run) {
    const RecordedTime time(run_, options_);
    GroupAxis groups(run_, By::kNode);
    const auto sums = sum_kernels(run, options_, time, groups);
    if (!sums) return tl::unexpected(sums.error());
    struct OfNode {
      double p50_ns = 0;
      double total_ns = 0;
    };
    std::map<StringId, std::map<std::uint32_t, OfNode>> kernels;
    for (const KernelTimes& row : sums->rows) {
      const auto p50_ns = real_of(row.cells[kMedianCell]);
      if (row.n_comm > 0 || row.n < kLeastKernels || !p50_ns || *p50_ns <= 0) continue;
      kernels[row.name][row.group] = {*p50_ns, static_cast<double>(row.total_ns)};
    }
    std::vector<double> score(groups.size(), 0);
    std::vector<double> weight(groups.size(), 0);
    for (const auto& [name, nodes] : kernels) {
      if (nodes.size() != groups.size() || nodes.size() < kLeastNodes) continue;
      std::vector<double> medians;
      for (const auto& [group, of_node] : nodes) medians.push_back(of_node.p50_ns);
      const double usual_ns = median(medians);
      for (const auto& [group, of_node] : nodes) {
        score[group] += of_node.total_ns * usual_ns / of_node.p50_ns;
        weight[group] += of_node.total_ns;
      }
    }
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
      const std::uint32_t node = groups.node_of(group);
      if (weight[group] > 0 && node < sheets_.size()) sheets_[node].gpu_score = score[group] / weight[group];
    }
    return {};
  }

  static constexpr std::size_t kMedianCell = 2;  // of time_columns(): total, mean, p50
  static std::optional<double> real_of(const Cell& cell) {
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    return std::nullopt;
  }

  const RunTables& run_;
  const StudyOptions& options_;
  std::vector<NodeSheet> sheets_;
};

}  // namespace

Result<RunSheet> read_run_sheet(const std::string& run_file, const StudyOptions& options) {
  const auto reader = RunFileReader::open(run_file);
  if (!reader) return tl::unexpected(reader.error());
  const auto run = reader->read(sheet_wants);
  if (!run) return tl::unexpected(run.error());
  const StudyRun study_run{*run, *reader};
  auto nodes = Sheets(study_run, options).take(study_run);
  if (!nodes) return tl::unexpected(std::move(nodes.error()).wrap(run_file));
  return RunSheet{run_file, run->attributes.run_id, run->attributes.created_unix_ns, std::move(*nodes)};
}

}  // namespace jaxprof::study
