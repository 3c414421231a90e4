// A run directory made by hand and what the merge makes of it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "merge/assembly/assemble_run.h"
#include "merge/runfile/table_rows.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/rundir/task_files.h"
#include "tests/unit/spool/recording.h"

namespace jaxprof::test {

class RunFolder {
 public:
  RunFolder() { std::filesystem::create_directories(state_); }
  std::string path() const { return folder_.path(); }
  std::string file(const char* name) const { return folder_.file(name); }

  void add(const TaskStart& start) { write_start(state_, start); }
  void add(const TaskEnd& end) { write_end(state_, end); }
  // Spool, start and end of rank `rank`.
  void add_rank(const Recording& recording, std::int64_t rank, std::int64_t world_size, const std::string& host) {
    recording.write(folder_.path(), "rank" + std::to_string(rank) + ".jxspool");
    add(task_start(rank, world_size, host));
    add(task_end(rank));
  }
  assembly::AssembledRun assemble() const {
    return assembly::assemble_run(rundir::read_run_directory(folder_.path())->runs.at(0));
  }

 private:
  TempFolder folder_;
  std::string state_ = run_layout::run_state_directory(folder_.path(), "7.0.0");
};

// Findings with `code`, as their texts.
inline std::vector<std::string> findings(const runfile::RunTables& run, std::string_view code) {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < runfile::n_rows(run.diagnostics); ++row) {
    if (run.strings.text(run.diagnostics.code[row]) == code) {
      texts.emplace_back(run.strings.text(run.diagnostics.text[row]));
    }
  }
  return texts;
}

// Every code that was found, sorted.
inline std::vector<std::string> codes(const runfile::RunTables& run) {
  std::vector<std::string> all;
  for (const runfile::StringId code : run.diagnostics.code) all.emplace_back(run.strings.text(code));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace jaxprof::test
