#include "merge/assembly/diagnostics.h"

#include <iterator>
#include <utility>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {

std::string counted(std::uint64_t count, std::string_view noun) {
  const std::size_t bar = noun.find('|');
  const std::string singular(noun.substr(0, bar));
  const std::string plural = bar == std::string_view::npos ? singular + "s" : std::string(noun.substr(bar + 1));
  return std::to_string(count) + " " + (count == 1 ? singular : plural);
}

std::string who(std::int64_t rank, std::string_view host) {
  return (rank >= 0 ? "rank " + std::to_string(rank) : "a task") + " on " + std::string(host);
}

void Diagnostics::add(runfile::Severity severity, std::string_view code, const Place& place, std::uint64_t count,
                      std::string text) {
  findings_.push_back({severity, std::string(code), place, count, std::move(text)});
  if (severity == runfile::Severity::kError) is_partial_ = true;
}

void Diagnostics::take(Diagnostics&& part) {
  is_partial_ = is_partial_ || part.is_partial_;
  findings_.insert(findings_.end(), std::make_move_iterator(part.findings_.begin()),
                   std::make_move_iterator(part.findings_.end()));
  part.findings_.clear();
}

void write_findings(const Diagnostics& diagnostics, runfile::RunTables* run) {
  runfile::DiagnosticTable& table = run->diagnostics;
  for (const Finding& finding : diagnostics.findings()) {
    const std::size_t row = runfile::add_row(table);
    table.severity[row] = finding.severity;
    table.rank[row] = finding.place.rank;
    table.process[row] = finding.place.process;
    table.node[row] = finding.place.node;
    table.code[row] = run->strings.intern_verbatim(finding.code);
    table.count[row] = finding.count;
    table.text[row] = run->strings.intern(finding.text);
  }
}

}  // namespace jaxprof::assembly
