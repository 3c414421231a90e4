#include "merge/export/export.h"

#include <fmt/format.h>

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
  const auto trace = write_perfetto(*reader, *options);
  if (!trace) return tl::unexpected(trace.error());
  return study::write_output(
      "", fmt::format("written  {}  {}  {} slices: {}\n", study::printable(options->perfetto),
                      study::human_bytes(static_cast<double>(trace->n_bytes)), trace->n_slices, trace->words));
}

}  // namespace jaxprof::exporting
