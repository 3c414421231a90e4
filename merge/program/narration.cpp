#include "merge/program/narration.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>

#include "merge/runfile/table_rows.h"

namespace jaxprof::merge {
namespace {

constexpr std::uint64_t kLinesPerCode = 5;

std::string count_of(std::uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
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
  const std::string nodes = count_of(run.attributes.n_nodes, "node");
  if (run.attributes.n_nodes < 2) return "clock    " + nodes + ", wall clock";
  return "clock    " + nodes +
         ", each by its own wall clock; bound unknown: times of different nodes are not comparable";
}

std::string read_line(const runfile::RunTables& run) {
  const std::uint64_t events =
      std::accumulate(run.processes.n_events.begin(), run.processes.n_events.end(), std::uint64_t{0});
  const std::uint32_t processes = run.attributes.n_processes;
  return "reading  " + std::to_string(processes) + (processes == 1 ? " process, " : " processes, ") +
         count_of(events, "event") + ", " + std::to_string(run.attributes.n_dropped) + " dropped";
}

std::string written_line(const std::string& path, std::uint64_t bytes, bool is_partial) {
  return "written  " + path + "  " + human_bytes(bytes) + (is_partial ? "  partial" : "  complete");
}

std::vector<std::string> finding_lines(const runfile::RunTables& run) {
  const runfile::DiagnosticTable& table = run.diagnostics;
  std::vector<std::size_t> order(runfile::n_rows(table));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&table](std::size_t a, std::size_t b) { return table.severity[a] > table.severity[b]; });
  std::map<runfile::StringId, std::uint64_t> printed;
  std::vector<std::string> lines;
  for (const std::size_t row : order) {
    const std::uint64_t nth = ++printed[table.code[row]];
    if (nth > kLinesPerCode) continue;
    const char* word = table.severity[row] == runfile::Severity::kError     ? "missing  "
                       : table.severity[row] == runfile::Severity::kWarning ? "warning  "
                                                                            : "note     ";
    lines.push_back(word + std::string(run.strings.text(table.text[row])));
  }
  for (const auto& [code, count] : printed) {
    if (count > kLinesPerCode) {
      lines.push_back("         and " + std::to_string(count - kLinesPerCode) + " more of " +
                      std::string(run.strings.text(code)) + " (jaxprof-study summary lists them)");
    }
  }
  return lines;
}

std::string list_runs(const rundir::RunDirectory& directory) {
  std::string text;
  for (const rundir::FoundRun& run : directory.runs) {
    text +=
        "\n  " + run.run_id + "  " + count_of(run.tasks.size(), "task") + ", " + count_of(run.spools.size(), "spool");
  }
  return text;
}

}  // namespace jaxprof::merge
