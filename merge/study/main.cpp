// jaxprof-study STUDY RUN.h5: reads the columns that the study needs, computes its table, prints it.
#include "agent/base/log.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/study/options.h"
#include "merge/study/output.h"

namespace jaxprof::study {
namespace {

// Open, read what the study needs, compute.
Result<Table> answer(const Options& options) {
  const auto reader = runfile::RunFileReader::open(options.run_file);
  if (!reader) return tl::unexpected(reader.error());
  const auto run = reader->read(options.study->is_wanted);
  if (!run) return tl::unexpected(run.error());
  if (const auto known = check_ranks(*run, options.filters); !known) return tl::unexpected(known.error());
  Table table = options.study->compute(*run, options.filters);
  table.parameters.emplace_back("run_file", options.run_file);
  if (options.filters.op) table.parameters.emplace_back("op", std::string(runfile::word(*options.filters.op)));
  if (!options.filters.ranks.empty()) table.parameters.emplace_back("ranks", options.filters.ranks);
  return table;
}

Status run(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  if (options->study == nullptr) return write_output("", options->text);
  const auto table = answer(*options);
  if (!table) return tl::unexpected(table.error());
  const bool has_no_place_for_reason = options->render.format == Format::kCsv || options->render.format == Format::kTsv;
  if (table->rows.empty() && has_no_place_for_reason) say("no rows: " + table->empty_reason);
  return write_output(options->output, render(*table, options->render));
}

}  // namespace
}  // namespace jaxprof::study

int main(int argc, char** argv) {
  jaxprof::set_program_name("jaxprof-study");
  const auto status = jaxprof::study::run({argv + 1, argv + argc});
  if (status) return 0;
  jaxprof::say(status.error().message);
  return jaxprof::exit_status(status.error().code);
}
