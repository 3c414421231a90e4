#include "merge/report/answers.h"

#include "merge/study/answer.h"

namespace jaxprof::report {
namespace {

study::StudyOptions options_of(const study::Study& study, const study::StudyOptions& asked) {
  study::StudyOptions options;
  options.is_for_programs = true;
  options.lists_all = (study.takes & study::kTakesAll) != 0;
  if ((study.takes & study::kTakesReference) != 0) options.reference = asked.reference;
  return options;
}

}  // namespace

Result<std::vector<Answer>> answer_all(const runfile::RunFileReader& reader, const study::StudyOptions& options) {
  std::vector<Answer> answers;
  for (const study::Study& study : study::all_studies()) {
    if (study.compare != nullptr) continue;
    Answer answer{&study, {}, false};
    auto table = study::answer(study, reader, options_of(study, options));
    if (table) {
      answer.table = std::move(*table);
    } else {
      const bool is_of_reference = !options.reference.empty() && (study.takes & study::kTakesReference) != 0;
      if (table.error().code == ErrorCode::kUsage || is_of_reference) return tl::unexpected(std::move(table.error()));
      answer.is_failed = true;
      answer.table.study = study.name;
      answer.table.verdict = "could not be computed";
      answer.table.empty_reason = table.error().message;
      answer.table.finding = study::Finding::kWarning;
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

const study::Table& table_of(const std::vector<Answer>& answers, std::string_view study) {
  static const study::Table kNone;
  for (const Answer& answer : answers) {
    if (answer.study->name == study) return answer.table;
  }
  return kNone;
}

}  // namespace jaxprof::report
