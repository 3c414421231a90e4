#include "merge/assembly/diagnostics.h"

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
                      const std::string& text) {
  runfile::DiagnosticTable& table = run_->diagnostics;
  const std::size_t row = runfile::add_row(table);
  table.severity[row] = severity;
  table.rank[row] = place.rank;
  table.process[row] = place.process;
  table.node[row] = place.node;
  table.code[row] = run_->strings.intern_verbatim(code);
  table.count[row] = count;
  table.text[row] = run_->strings.intern(text);
  if (severity == runfile::Severity::kError) is_partial_ = true;
}

}  // namespace jaxprof::assembly
