#include "merge/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "agent/base/log.h"
#include "merge/report/assets.h"
#include "merge/report/figures.h"
#include "merge/report/json_text.h"
#include "merge/report/options.h"
#include "merge/report/page.h"
#include "merge/study/output.h"

namespace jaxprof::report {
namespace {

PageFacts facts_of(const Options& options, const runfile::RunFileReader& reader) {
  const runfile::RunAttributes& run = reader.attributes();
  return {"jaxprof " JAXPROF_VERSION, std::filesystem::path(options.run_file).filename().string(), run.run_id,
          run.cmdline, run.epoch_unix_ns};
}

// Of a study that failed, or nothing.
Status missing_studies(const std::vector<Answer>& answers, const std::string& output) {
  for (const Answer& answer : answers) {
    if (!answer.is_failed) continue;
    return fail(ErrorCode::kPartial, fmt::format("{} is written, but {} could not be computed: {}", output,
                                                 answer.study->name, answer.table.empty_reason));
  }
  return {};
}

}  // namespace

Status run(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  if (!options->text.empty()) return study::write_output("", options->text);
  const auto reader = runfile::RunFileReader::open(options->run_file);
  if (!reader) return tl::unexpected(reader.error());
  study::StudyOptions asked;
  asked.reference = options->reference;
  const auto answers = answer_all(*reader, asked);
  if (!answers) return tl::unexpected(answers.error());
  if (asset("plotly").empty()) say("this program was built without Plotly: the page has tables and no figures");
  const std::vector<Figure> figures = draw_figures(*reader, *answers);
  const PageFacts facts = facts_of(*options, *reader);
  const std::string page =
      page_html(facts.run_file + " - jaxprof report", page_json(facts, *answers, figures, kMostRows));
  if (auto written = study::write_output(options->output, page); !written) return written;
  const auto n_drawn =
      std::count_if(figures.begin(), figures.end(), [](const Figure& f) { return f.empty_reason.empty(); });
  say(fmt::format("{}: {:.1f} MB, {} studies, {} of {} figures have something to show", options->output,
                  static_cast<double>(page.size()) / 1e6, answers->size(), n_drawn, figures.size()));
  return missing_studies(*answers, options->output);
}

}  // namespace jaxprof::report
