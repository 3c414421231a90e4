// Sheets of all runs, then what they say together of each host.
#include "merge/study/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>

#include "merge/study/straggler_verdict.h"

namespace jaxprof::study {
namespace {

struct Score {
  const char* name;
  std::optional<double> NodeSheet::*of;
};
constexpr std::array<Score, 3> kScores = {
    {{"gpu", &NodeSheet::gpu_score}, {"nic", &NodeSheet::nic_score}, {"own", &NodeSheet::own_score}}};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The 21st of November as people write it; of the run's last stamp.
std::string date_of(std::int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm utc{};
  if (::gmtime_r(&seconds, &utc) == nullptr) return "?";
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

// What a score says of a host over the runs that have it, in order of time.
struct Judgement {
  std::size_t n = 0;
  std::size_t n_slower = 0;
  double median_score = 1;
  double p = 1;
  double trend = 0;
  std::int64_t since_unix_ns = -1;  // -1: not now, or from the first run on
  bool is_since_first = false;

  double effect() const { return 1 - median_score; }
  bool is_slow() const { return n >= kLeastMeetings && p < kAuditChance && effect() > kAuditEffect; }
};

double trend_of(const std::vector<double>& scores) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t k = i + 1; k < scores.size(); ++k)
      slopes.push_back((scores[k] - scores[i]) / static_cast<double>(k - i));
  }
  return slopes.empty() ? 0 : median(slopes) * static_cast<double>(scores.size() - 1);
}

struct Host {
  std::vector<const RunSheet*> runs;  // in order of time
  std::vector<const NodeSheet*> sheets;
};

std::optional<Judgement> judge(const Host& host, const Score& score) {
  std::vector<double> scores;
  std::vector<std::int64_t> unix_ns;
  for (std::size_t i = 0; i < host.sheets.size(); ++i) {
    if (const auto& value = host.sheets[i]->*score.of) {
      scores.push_back(*value);
      unix_ns.push_back(host.runs[i]->unix_ns);
    }
  }
  if (scores.empty()) return std::nullopt;
  Judgement judgement;
  judgement.n = scores.size();
  std::size_t n_unlike = 0;  // runs that are neither better nor worse say nothing
  for (const double value : scores) {
    if (value < 1) ++judgement.n_slower;
    if (value != 1) ++n_unlike;
  }
  judgement.median_score = median(scores);
  const std::size_t n_farther = std::max(judgement.n_slower, n_unlike - judgement.n_slower);
  judgement.p = n_unlike == 0 ? 1 : std::min(1.0, 2 * sign_test_p(n_farther, n_unlike));  // two-sided
  judgement.trend = trend_of(scores);
  std::size_t first = scores.size();
  while (first > 0 && scores[first - 1] < 1 - kAuditEffect) --first;
  if (first < scores.size()) {
    judgement.since_unix_ns = unix_ns[first];
    judgement.is_since_first = first == 0;
  }
  return judgement;
}

struct Verdict {
  std::string host;
  const char* score = nullptr;  // none: not slow
  Judgement judgement;
};

class Audit {
 public:
  explicit Audit(std::vector<RunSheet> sheets) : sheets_(std::move(sheets)) {
    std::stable_sort(sheets_.begin(), sheets_.end(),
                     [](const RunSheet& a, const RunSheet& b) { return a.unix_ns < b.unix_ns; });
    for (const RunSheet& run : sheets_) {
      for (const NodeSheet& node : run.nodes) {
        hosts_[node.host].runs.push_back(&run);
        hosts_[node.host].sheets.push_back(&node);
      }
    }
  }

  Table by_node() {
    Table table = start();
    table.columns = {{"node", "node"}, {"runs", "runs"}, {"slow", "slow"}};
    for (const Score& score : kScores) {
      const std::string name = score.name;
      table.columns.insert(table.columns.end(), {{name + "_score", name, Unit::kRatio},
                                                 {name + "_runs", name + " runs", Unit::kNone, true},
                                                 {name + "_slower", name + " slower"},
                                                 {name + "_p", name + " p"},
                                                 {name + "_effect", name + " effect", Unit::kRatio, true},
                                                 {name + "_trend", name + " trend", Unit::kRatio, true}});
    }
    table.columns.insert(table.columns.end(), {{"since", "since"},
                                               {"last_share", "last", Unit::kRatio},
                                               {"blame_share", "blame", Unit::kRatio},
                                               {"clock_bound_ns", "bound", Unit::kTimeNs},
                                               {"dropped", "dropped"}});
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, host] : hosts_) {
      verdicts_[name] = verdict_of(name, host);
      const Verdict& verdict = verdicts_[name];
      order.emplace_back(verdict.score != nullptr ? -verdict.judgement.effect() : 1, name);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [effect, name] : order) table.rows.push_back(row_of(name, hosts_[name]));
    table.verdict = words(order, table);
    return table;
  }

  Table by_run() {
    Table table = start();
    table.columns = {{"run_file", "run file"},
                     {"run", "run", Unit::kNone, true},
                     {"date", "date"},
                     {"node", "node"},
                     {"processes", "processes"}};
    for (const Score& score : kScores)
      table.columns.push_back({std::string(score.name) + "_score", score.name, Unit::kRatio});
    table.columns.insert(table.columns.end(), {{"last_share", "last", Unit::kRatio},
                                               {"blame_share", "blame", Unit::kRatio},
                                               {"clock_bound_ns", "bound", Unit::kTimeNs},
                                               {"dropped", "dropped"}});
    for (const RunSheet& run : sheets_) {
      for (const NodeSheet& node : run.nodes) {
        Row row = {run.run_file, run.run_id, date_of(run.unix_ns), node.host, std::int64_t{node.n_processes}};
        for (const Score& score : kScores) row.push_back(cell(node.*score.of));
        row.insert(row.end(), {cell(node.last_share), cell(node.blame_share), cell(node.clock_bound_ns),
                               static_cast<std::int64_t>(node.n_dropped)});
        table.rows.push_back(std::move(row));
      }
    }
    table.verdict = fmt::format("{} of {} nodes", runs_words(), hosts_.size());
    return table;
  }

 private:
  static Cell cell(const std::optional<double>& value) { return value ? Cell{*value} : Cell{Missing{}}; }
  std::string runs_words() const { return fmt::format("{} run{}", sheets_.size(), sheets_.size() == 1 ? "" : "s"); }

  Table start() const {
    Table table;
    table.study = kAudit.name;
    table.heading = "scores: 1 is like the median of the nodes of the same run, less is slower";
    if (hosts_.empty()) table.empty_reason = "no run file has a node with processes";
    table.notes.emplace_back("definitions: jaxprof-study audit --explain");
    return table;
  }

  static Verdict verdict_of(const std::string& name, const Host& host) {
    Verdict verdict{name, nullptr, {}};
    for (const Score& score : kScores) {
      const auto judgement = judge(host, score);
      if (!judgement || !judgement->is_slow()) continue;
      if (verdict.score != nullptr && judgement->effect() <= verdict.judgement.effect()) continue;
      verdict.score = score.name;
      verdict.judgement = *judgement;
    }
    return verdict;
  }

  Row row_of(const std::string& name, const Host& host) {
    const Verdict& verdict = verdicts_[name];
    Row row = {name, static_cast<std::int64_t>(host.sheets.size()),
               verdict.score != nullptr ? Cell{std::string(verdict.score)} : Cell{Missing{}}};
    for (const Score& score : kScores) {
      const auto judgement = judge(host, score);
      if (!judgement) {
        row.insert(row.end(), 6, Cell{Missing{}});
        continue;
      }
      row.insert(row.end(),
                 {judgement->median_score, static_cast<std::int64_t>(judgement->n),
                  static_cast<std::int64_t>(judgement->n_slower), judgement->p, judgement->effect(), judgement->trend});
    }
    const bool has_since = verdict.score != nullptr && verdict.judgement.since_unix_ns >= 0;
    row.push_back(has_since ? Cell{date_of(verdict.judgement.since_unix_ns)} : Cell{Missing{}});
    add_medians(host, row);
    return row;
  }

  static void add_medians(const Host& host, Row& row) {
    for (const auto of : {&NodeSheet::last_share, &NodeSheet::blame_share}) {
      std::vector<double> values;
      for (const NodeSheet* sheet : host.sheets) {
        if (sheet->*of) values.push_back(*(sheet->*of));
      }
      row.push_back(values.empty() ? Cell{Missing{}} : Cell{median(values)});
    }
    std::optional<double> bound_ns;
    std::int64_t n_dropped = 0;
    for (const NodeSheet* sheet : host.sheets) {
      if (sheet->clock_bound_ns) bound_ns = std::max(bound_ns.value_or(0), *sheet->clock_bound_ns);
      n_dropped += static_cast<std::int64_t>(sheet->n_dropped);
    }
    row.push_back(cell(bound_ns));
    row.emplace_back(n_dropped);
  }

  std::string words(const std::vector<std::pair<double, std::string>>& order, Table& table) {
    std::string text;
    for (const auto& [effect, name] : order) {
      const Verdict& verdict = verdicts_[name];
      if (verdict.score == nullptr) continue;
      const Judgement& judgement = verdict.judgement;
      table.finding =
          std::max(table.finding, judgement.effect() >= kAuditCritical ? Finding::kCritical : Finding::kWarning);
      text += fmt::format(
          "{}{} ({} {:.2f}, slower in {} of {} runs, p = {:.2g}{})", text.empty() ? "" : "; ", name, verdict.score,
          judgement.median_score, judgement.n_slower, judgement.n, judgement.p,
          judgement.since_unix_ns < 0 || judgement.is_since_first ? "" : ", since " + date_of(judgement.since_unix_ns));
    }
    if (!text.empty()) return "slow: " + text;
    text = fmt::format("no node is slow over {}", runs_words());
    if (sheets_.size() < kLeastMeetings) text += fmt::format("; it takes {} runs to name one", kLeastMeetings);
    return text;
  }

  std::vector<RunSheet> sheets_;
  std::map<std::string, Host> hosts_;
  std::map<std::string, Verdict> verdicts_;
};

}  // namespace

Table audit_sheets(std::vector<RunSheet> sheets, By by) {
  Audit audit(std::move(sheets));
  return by == By::kRun ? audit.by_run() : audit.by_node();
}

Result<Table> audit(std::span<const std::string> run_files, const StudyOptions& options) {
  std::vector<RunSheet> sheets;
  std::vector<std::string> left_out;  // one damaged file of hundreds is no reason to say nothing
  for (const std::string& run_file : run_files) {
    auto sheet = read_run_sheet(run_file, options);
    if (sheet) {
      sheets.push_back(std::move(*sheet));
    } else if (run_files.size() == 1) {
      return tl::unexpected(std::move(sheet.error()));
    } else {
      left_out.push_back("left out: " + sheet.error().message);
    }
  }
  if (sheets.empty()) {
    return fail(ErrorCode::kInputUnreadable,
                fmt::format("none of {} files can be read; {}", run_files.size(), left_out.front()));
  }
  Table table = audit_sheets(std::move(sheets), options.by.value_or(By::kNode));
  table.notes.insert(table.notes.begin(), left_out.begin(), left_out.end());
  return table;
}

}  // namespace jaxprof::study
