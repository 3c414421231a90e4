#include "merge/export/export.h"

#include <fmt/format.h>

#include "merge/export/csv_tables.h"
#include "merge/export/options.h"
#include "merge/export/perfetto.h"
#include "merge/study/human.h"
#include "merge/study/output.h"

namespace jaxprof::exporting {

Status run(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  if (!options->text.empty()) return study::write_output("", options->text);
  const auto reader = runfile::RunFileReader::open(options->run_file);
  if (!reader) return tl::unexpected(reader.error());
  std::string said;
  if (!options->perfetto.empty()) {
    const auto trace = write_perfetto(*reader, *options);
    if (!trace) return tl::unexpected(trace.error());
    said += fmt::format("written  {}  {}  {} slices: {}\n", study::printable(options->perfetto),
                        study::human_bytes(static_cast<double>(trace->n_bytes)), trace->n_slices, trace->words);
  }
  if (!options->csv.empty()) {
    const auto tables = write_csv(*reader, options->csv);
    if (!tables) return tl::unexpected(tables.error());
    said += fmt::format("written  {}  {}  {} tables, {} rows\n", study::printable(options->csv),
                        study::human_bytes(static_cast<double>(tables->n_bytes)), tables->n_files, tables->n_rows);
  }
  return study::write_output("", said);
}

}  // namespace jaxprof::exporting
