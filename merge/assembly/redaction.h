// A run file that is to be shown to strangers must not tell who ran what where. With --redact every text passes through
// this before it gets into the run file's strings, so that what was taken out is in no corner of it. It takes out
//
//   names of hosts        node0, node1, … by the run's order of nodes, wherever they stand: also within names of output
//                         files, run ids and findings; a host name that is no node's first is other0, …
//   boot ids              boot0, boot1, …, and none in /job/nodes; GPUs' UUIDs and ports' GUIDs, none
//   paths                 absolute ones outside of /sys, /proc, /dev and /usr, and all below the run directory: "…", or
//                         "…/rank3.jxspool" of what is by its name a spool, a library, a script or a document
//   IP addresses          "address"
//   values of variables   where a text says NAME=VALUE; and those of /job/env
//   arguments             of the command: only the last part of its program's name is kept
//
// It does not know what a name means that somebody chose: names of programs, ranges, kernels and communicators, and of
// output files beside hosts, stay.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

class Redaction {
 public:
  // `word` becomes `replacement` where no letter or digit stands before or behind it; the longest word wins. A word
  // that has a replacement keeps it.
  void replace(const std::string& word, const std::string& replacement);
  // Paths below `folder` are hidden, also where it is no absolute path.
  void hide_folder(const std::string& folder);

  std::string text(std::string_view text) const;

 private:
  // The length of what begins at `at` and is taken out, 0 for nothing; `*out` gets what takes its place.
  std::size_t take_path(std::string_view text, std::size_t at, std::string* out) const;
  std::size_t take_word(std::string_view text, std::size_t at, std::string* out) const;

  std::unordered_map<std::string, std::string> words_;
  std::set<std::size_t, std::greater<>> lengths_;  // of words, the longest first
  std::vector<std::string> folders_;
};

// For the hosts and folders of a run.
Redaction redaction_of(const RunSources& sources);

// Lets all texts of `run` pass `redaction` from now on, and marks the run.
void begin_redaction(const RunSources& sources, runfile::RunTables* run);
// The root attributes, which are no strings of the run. To be called when those that tell of hosts and paths are
// filled.
void redact_attributes(const RunSources& sources, runfile::RunAttributes* attributes);
// Columns of /job/nodes, /job/devices and /job/nics that are no strings of the run. To be called when they are filled.
void clear_hardware_ids(runfile::RunTables* run);

// "python" of "/usr/bin/python".
std::string program_of(std::string_view path);

}  // namespace jaxprof::assembly
