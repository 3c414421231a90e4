// What jaxprof-merge tells a person: where the times come from, what was read, what is wrong, what was written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/rundir/run_directory.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::merge {

// "1.2 MB": powers of ten, three digits.
std::string human_bytes(std::uint64_t bytes);

std::string clock_line(const runfile::RunTables& run);
std::string read_line(const runfile::RunTables& run);
std::string written_line(const std::string& path, std::uint64_t bytes, bool is_partial);

// One line a finding of /diagnostics, errors first; findings of one code beyond a few are counted, not printed.
std::vector<std::string> finding_lines(const runfile::RunTables& run);

// The runs of a directory, for someone who has to choose one.
std::string list_runs(const rundir::RunDirectory& directory);

}  // namespace jaxprof::merge
