// jaxprof-study STUDY RUN.h5: reads the columns that the study needs, computes its table, prints it. The words `report`
// and `export` in place of a study are merge/report's and merge/export's.
#include <fmt/format.h>

#include "agent/base/log.h"
#include "merge/export/export.h"
#include "merge/report/report.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/study/answer.h"
#include "merge/study/options.h"
#include "merge/study/output.h"
#include "merge/study/save.h"

namespace jaxprof::study {
namespace {

Result<Table> answer_of_one(const Options& options) {
  const auto reader = runfile::RunFileReader::open(options.run_files.front());
  if (!reader) return tl::unexpected(reader.error());
  return answer(*options.study, *reader, options.filters);
}

void add_parameters(const Options& options, Table& table) {
  const StudyOptions& asked = options.filters;
  std::vector<std::pair<std::string, Cell>> given;
  if (options.run_files.size() == 1) given.emplace_back("run_file", options.run_files.front());
  for (std::size_t i = 0; options.run_files.size() > 1 && i < options.run_files.size(); ++i) {
    given.emplace_back(fmt::format("run_file_{}", i + 1), options.run_files[i]);
  }
  if (asked.op) given.emplace_back("op", std::string(runfile::word(*asked.op)));
  if (!asked.ranks.empty()) given.emplace_back("ranks", asked.ranks);
  if (!asked.steps.empty()) given.emplace_back("steps", asked.steps);
  if (asked.has_all_steps) given.emplace_back("all_steps", std::int64_t{1});
  if (asked.segment) given.emplace_back("segment", std::int64_t{*asked.segment});
  if (asked.window) {
    given.emplace_back("window_begin_ns", asked.window->begin_ns);
    given.emplace_back("window_end_ns", asked.window->end_ns);
  }
  if (asked.by) given.emplace_back("by", std::string(word(*asked.by)));
  if (!asked.reference.empty()) given.emplace_back("ref", asked.reference);
  table.parameters.insert(table.parameters.begin(), given.begin(), given.end());
}

// Keeps the first `top` rows, and says so.
void cut_rows(std::size_t top, Table& table) {
  if (top == 0 || table.rows.size() <= top) return;
  table.notes.insert(table.notes.begin(), fmt::format("{} of {} rows; --top 0 shows all", top, table.rows.size()));
  table.rows.resize(top);
}

Status run(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  if (options->study == nullptr) return write_output("", options->text);
  auto table = options->study->compare != nullptr ? options->study->compare(options->run_files, options->filters)
                                                  : answer_of_one(*options);
  if (!table) return tl::unexpected(table.error());
  add_parameters(*options, *table);
  const bool has_no_place_for_reason = options->render.format == Format::kCsv || options->render.format == Format::kTsv;
  if (table->rows.empty() && has_no_place_for_reason) say("no rows: " + table->empty_reason);
  if (options->is_saved) {
    if (auto saved = save_table(*table, options->run_files.front()); !saved) return saved;
  }
  cut_rows(options->top, *table);
  if (auto written = write_output(options->output, render(*table, options->render)); !written) return written;
  if (options->fail_on && table->finding >= *options->fail_on) {
    return fail(ErrorCode::kFinding, "--fail-on: " + table->verdict);
  }
  return {};
}

}  // namespace
}  // namespace jaxprof::study

int main(int argc, char** argv) {
  jaxprof::set_program_name("jaxprof-study");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string word = arguments.empty() ? std::string() : arguments.front();
  jaxprof::Status status;
  if (word == "report") {
    status = jaxprof::report::run({argv + 2, argv + argc});
  } else if (word == "export") {
    status = jaxprof::exporting::run({argv + 2, argv + argc});
  } else {
    status = jaxprof::study::run(std::move(arguments));
  }
  if (status) return 0;
  jaxprof::say(status.error().message);
  return jaxprof::exit_status(status.error().code);
}
