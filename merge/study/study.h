// A study is a function from a run's columns to a table, with a name, the columns that it needs and its definitions.
// Adding one means one file and one line in study.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent/base/result.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/study/table.h"

namespace jaxprof::study {

struct StudyOptions {
  std::optional<runfile::Coll> op;  // only this operation
  std::string ranks;                // only these, as "0,8-15,0-1023:128"; "" for all
  bool lists_all = false;           // --all: summary's diagnostics one by one, env's values in full
  bool is_for_programs = false;     // of csv, tsv and json: no value is cut
};

struct Study {
  const char* name;
  const char* answers;      // one line
  const char* definitions;  // what --explain prints
  bool takes_filters;       // --op and --ranks
  bool (*is_wanted)(std::string_view path);
  Table (*compute)(const runfile::RunTables& run, const StudyOptions& options);
  bool takes_all = false;  // --all
};

std::span<const Study> all_studies();
const Study* find_study(std::string_view name);

// Whether `rank` passes --ranks; a rank that is missing (-1) passes only without it.
bool is_rank_wanted(std::int32_t rank, const StudyOptions& options);

// kUsage if --ranks names none of the ranks that the run file has.
Status check_ranks(const runfile::RunTables& run, const StudyOptions& options);

// Did -t of one of the tasks ask for that kind? True also where the spools do not tell.
bool is_asked_for(const runfile::RunTables& run, std::string_view kind);

}  // namespace jaxprof::study
