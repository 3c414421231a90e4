#include "merge/runfile/table_source.h"

#include <string_view>

#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

Result<TableRows> measure_tables(const TableSource& source, std::uint64_t n_strings) {
  const RunTables run;
  TableRows rows;
  Status status;
  for_each_table(run, [&](const auto& table) {
    const TableSpec spec = spec_of(table);
    if (!status || std::string_view{spec.rows_attribute} != "n_rows") return;
    if (const auto counted = measure_rows(source, table); counted) {
      rows[spec.path] = *counted;
    } else {
      status = tl::unexpected(counted.error());
    }
  });
  rows["/strings/value"] = n_strings;
  if (!status) return tl::unexpected(std::move(status.error()));
  return rows;
}

}  // namespace jaxprof::runfile
