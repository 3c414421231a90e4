// A study is a function from a run's columns to a table, with a name, the options that it takes, the columns that it
// needs and its definitions. Adding one means one file and one line in study.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/study/grouping.h"
#include "merge/study/table.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {

// What was asked on the command line. What a study does not take (Study::takes) never reaches it.
struct StudyOptions {
  std::optional<runfile::Coll> op;       // only this operation
  std::string ranks;                     // only these, as "0,8-15,0-1023:128"; "" for all
  std::string steps;                     // only these, as "200-240"; "" for the steady ones
  bool has_all_steps = false;            // --all-steps: warm-up too
  std::optional<std::uint32_t> segment;  // only this opening of the window
  std::optional<TimeSpan> window;        // only this part of the run's time axis
  std::optional<By> by;                  // none: the study's own
  std::string reference;                 // --ref: a file of nccl-tests' output; "" for none
  bool has_histogram = false;            // --histogram
  bool lists_all = false;                // --all: summary's diagnostics one by one, env's values in full
  bool is_for_programs = false;          // of csv, tsv and json: no value is cut
};

// Options that a study may take, as bits.
inline constexpr unsigned kTakesOp = 1;
inline constexpr unsigned kTakesRanks = 2;
inline constexpr unsigned kTakesTime = 4;  // --steps, --all-steps, --segment, --window
inline constexpr unsigned kTakesReference = 8;
inline constexpr unsigned kTakesHistogram = 16;
inline constexpr unsigned kTakesAll = 32;

// A run as a study gets it.
struct StudyRun {
  const runfile::RunTables& tables;      // the columns that is_wanted names; others are empty
  const runfile::RunFileReader& reader;  // for what is read in stretches
};

struct Study {
  const char* name;
  const char* answers;      // one line
  const char* definitions;  // what --explain prints
  unsigned takes = 0;       // bits of kTakes…
  bool (*is_wanted)(std::string_view path) = nullptr;
  // One of three: of columns in memory, of columns read in stretches, of several run files.
  Table (*compute)(const runfile::RunTables& run, const StudyOptions& options) = nullptr;
  Result<Table> (*stream)(const StudyRun& run, const StudyOptions& options) = nullptr;
  Result<Table> (*compare)(std::span<const std::string> run_files, const StudyOptions& options) = nullptr;
  std::span<const By> groupings = {};  // what --by may be; the first is the default
  std::size_t shown_rows = 0;          // in formats for people, without --top; 0: all
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
