#include "merge/assembly/diagnostics.h"

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {

void Diagnostics::add(runfile::Severity severity, std::string_view code, const Place& place, std::uint64_t count,
                      const std::string& text) {
  runfile::DiagnosticTable& table = run_->diagnostics;
  const std::size_t row = runfile::add_row(table);
  table.severity[row] = severity;
  table.rank[row] = place.rank;
  table.process[row] = place.process;
  table.node[row] = place.node;
  table.code[row] = run_->strings.intern(code);
  table.count[row] = count;
  table.text[row] = run_->strings.intern(text);
  if (severity == runfile::Severity::kError) is_partial_ = true;
}

}  // namespace jaxprof::assembly
