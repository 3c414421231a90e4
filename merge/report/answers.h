// What every study says of one run file, once each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "merge/study/study.h"

namespace jaxprof::report {

struct Answer {
  const study::Study* study = nullptr;
  study::Table table;
  bool is_failed = false;  // the run file could not be read for it; the table says why
};

// Studies that compare run files are not asked. `options`: --ref; the rest is each study's default. Machine formats'
// columns and values: raw, none cut. A study that cannot be computed is an answer too; only what was asked wrongly
// fails: kUsage, and whatever is wrong with --ref.
Result<std::vector<Answer>> answer_all(const runfile::RunFileReader& reader, const study::StudyOptions& options);

// The table of that study; an empty one if it was not asked.
const study::Table& table_of(const std::vector<Answer>& answers, std::string_view study);

}  // namespace jaxprof::report
