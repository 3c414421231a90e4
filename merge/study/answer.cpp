#include "merge/study/answer.h"

#include "merge/study/scope.h"

namespace jaxprof::study {

Result<Table> answer(const Study& study, const runfile::RunFileReader& reader, const StudyOptions& options) {
  const auto run = reader.read(study.is_wanted);
  if (!run) return tl::unexpected(run.error());
  if (const auto known = check_ranks(*run, options); !known) return tl::unexpected(known.error());
  if ((study.takes & kTakesTime) != 0) {
    if (const auto known = check_scope(*run, options); !known) return tl::unexpected(known.error());
  }
  if (study.stream != nullptr) return study.stream({*run, reader}, options);
  return study.compute(*run, options);
}

}  // namespace jaxprof::study
