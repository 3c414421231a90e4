// What jaxprof-merge tells a person: where the times come from, what was read, what is wrong, what was written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::merge {

// "1.2 MB": powers of ten, three digits.
std::string human_bytes(std::uint64_t bytes);

std::string clock_line(const runfile::RunTables& run);
// Processes, what their spools hold and what was dropped.
std::string read_line(const runfile::RunTables& run);
std::string written_line(const std::string& path, std::uint64_t bytes, bool is_partial);

std::string note_line(const std::string& text);
// Of a run without a single process.
std::string nothing_line(const runfile::RunTables& run);

// One line a finding of /diagnostics, errors first. What many ranks say alike is one line with the sum and the ranks;
// errors, whose causes differ, are named one by one, and beyond a few of one code counted, with the command that lists
// them all from `run_file`, where this run is written to.
std::vector<std::string> finding_lines(const runfile::RunTables& run, const std::string& run_file);

}  // namespace jaxprof::merge
