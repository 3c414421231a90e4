#include "merge/program/narration.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <span>
#include <string_view>

#include "merge/assembly/diagnostics.h"
#include "merge/clock/clock_words.h"
#include "merge/runfile/rank_ranges.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::merge {
namespace {

using assembly::counted;

constexpr std::size_t kErrorsPerCode = 5;
constexpr std::size_t kOthersPerCode = 3;

// What stands before the text of a finding.
const char* label_of(runfile::Severity severity, std::string_view code) {
  if (severity == runfile::Severity::kWarning) return "warning  ";
  if (severity != runfile::Severity::kError) return "note     ";
  if (code == "rank.missing") return "missing  ";
  if (code == "spool.cut" || code == "spool.short") return "cut      ";
  if (code.substr(0, 13) == "spool.damaged" || code == "spool.lost-blocks") return "damaged  ";
  return "error    ";
}

// The findings of one code and severity.
struct Findings {
  runfile::Severity severity = runfile::Severity::kMissing;
  std::string code;
  std::vector<std::size_t> rows;
};

// Most severe first, within a severity by first appearance.
std::vector<Findings> collect_findings(const runfile::RunTables& run) {
  const runfile::DiagnosticTable& table = run.diagnostics;
  std::vector<Findings> all;
  for (std::size_t row = 0; row < runfile::n_rows(table); ++row) {
    const std::string code(run.strings.text(table.code[row]));
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Findings& f) { return f.severity == table.severity[row] && f.code == code; });
    if (found == all.end()) found = all.insert(all.end(), {table.severity[row], code, {}});
    found->rows.push_back(row);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Findings& a, const Findings& b) { return a.severity > b.severity; });
  return all;
}

// ", ranks 0-3"; "" for findings that are about no rank.
std::string ranks_of(const runfile::RunTables& run, std::span<const std::size_t> rows) {
  std::vector<std::int32_t> ranks;
  for (const std::size_t row : rows) ranks.push_back(run.diagnostics.rank[row]);
  const bool has_rank = std::any_of(ranks.begin(), ranks.end(), [](std::int32_t rank) { return rank >= 0; });
  return has_rank ? ", " + runfile::rank_ranges(std::move(ranks)) : "";
}

std::uint64_t sum_of(const runfile::RunTables& run, const Findings& findings) {
  std::uint64_t sum = 0;
  for (const std::size_t row : findings.rows) {
    const std::uint64_t count = run.diagnostics.count[row];
    sum += count == runfile::kNoRow ? 1 : count;
  }
  return sum;
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : value < 10 ? "%.2f %s" : "%.3g %s", value, kUnits[unit]);
  return text;
}

std::string clock_line(const runfile::RunTables& run) {
  const runfile::RunAttributes& a = run.attributes;
  return "clock    " + counted(a.n_nodes, "node") + ", " +
         clock::clock_words(a.clock_method, a.clock_sigma_ns, a.clock_bound_ns, a.n_nodes);
}

std::string read_line(const runfile::RunTables& run) {
  const std::uint64_t records =
      std::accumulate(run.processes.n_events.begin(), run.processes.n_events.end(), std::uint64_t{0});
  return "reading  " + counted(run.attributes.n_processes, "process|processes") + ", " +
         counted(records, "spool record") + ", " + std::to_string(run.attributes.n_dropped) + " dropped";
}

std::string note_line(const std::string& text) {
  return "note     " + text;
}

std::string nothing_line(const runfile::RunTables& run) {
  return "nothing  no task of run " + run.attributes.run_id +
         " left a spool: the run file names the tasks and has no events";
}

std::string written_line(const std::string& path, std::uint64_t bytes, bool is_partial) {
  return "written  " + path + "  " + human_bytes(bytes) + (is_partial ? "  partial" : "  complete");
}

std::vector<std::string> finding_lines(const runfile::RunTables& run, const std::string& run_file) {
  std::vector<std::string> lines;
  for (const Findings& findings : collect_findings(run)) {
    const std::string label = label_of(findings.severity, findings.code);
    const auto text = [&](std::size_t row) { return std::string(run.strings.text(run.diagnostics.text[row])); };
    const bool is_error = findings.severity == runfile::Severity::kError;
    if (!is_error && findings.rows.size() > kOthersPerCode) {
      lines.push_back(label + findings.code + ": " + std::to_string(sum_of(run, findings)) + " in all" +
                      ranks_of(run, findings.rows) + "; the first: " + text(findings.rows.front()));
      continue;
    }
    const std::size_t shown = std::min(kErrorsPerCode, findings.rows.size());
    for (std::size_t i = 0; i < shown; ++i) lines.push_back(label + text(findings.rows[i]));
    const std::span<const std::size_t> rest = std::span(findings.rows).subspan(shown);
    if (!rest.empty()) {
      lines.push_back("         and " + std::to_string(rest.size()) + " more of " + findings.code +
                      ranks_of(run, rest) + " (`jaxprof-study summary --all " + run_file + "` lists them)");
    }
  }
  return lines;
}

}  // namespace jaxprof::merge
