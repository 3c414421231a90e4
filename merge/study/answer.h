// One study's answer from an open run file: reads the columns that the study names, checks what was asked against them.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

// Of a study of one run file. kInputUnreadable; kUsage where the options name ranks, steps or times that the run lacks.
Result<Table> answer(const Study& study, const runfile::RunFileReader& reader, const StudyOptions& options);

}  // namespace jaxprof::study
