// The one file of jaxprof-study that knows CLI11, which throws.
#include "merge/study/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "agent/contract/rank_selection.h"

namespace jaxprof::study {
namespace {

// What CLI11 fills.
struct Words {
  std::string study, run_file, format = "table", op, ranks, output;
  bool is_wide = false;
  bool wants_definitions = false;
  bool wants_all = false;
};

tl::unexpected<Error> usage(std::string message) {
  return fail(ErrorCode::kUsage, std::move(message));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string list_of_studies() {
  std::string text = "Studies:\n";
  for (const Study& study : all_studies()) text += fmt::format("  {:<12} {}\n", study.name, study.answers);
  return text + "\nExit status: 0 done, 2 usage, 3 run file unreadable, 5 output not written.";
}

void declare(CLI::App& app, Words& words) {
  app.set_version_flag("--version", "jaxprof-study " JAXPROF_VERSION);
  app.add_option("STUDY", words.study, "what to ask; the list is below");
  app.add_option("RUN.h5", words.run_file, "a run file of jaxprof-merge");
  app.add_option("--format", words.format, "table, csv, tsv, json or md; csv, tsv and json hold raw values")
      ->capture_default_str();
  app.add_option("--op", words.op, "spread: only this operation: AllReduce, AllGather, ReduceScatter, ...");
  app.add_option("--ranks", words.ranks, "spread: only these ranks: 0,8-15,0-1023:128");
  app.add_flag("--all", words.wants_all,
               "summary: every finding of the merge in a row of its own; env: every value, in full");
  app.add_option("--out", words.output, "write to this file, which may exist, instead of standard output");
  app.add_flag("--wide", words.is_wide, "table and md: show every column");
  app.add_flag("--explain", words.wants_definitions, "print the definitions of the study and end");
  app.footer(list_of_studies());
}

Result<const Study*> chosen_study(const std::string& name) {
  if (const Study* study = find_study(name); study != nullptr) return study;
  std::string known;
  for (const Study& study : all_studies()) known += (known.empty() ? "" : ", ") + std::string(study.name);
  if (name.empty()) return usage("no study given; known are " + known);
  return usage("unknown study \"" + name + "\"; known are " + known);
}

Result<runfile::Coll> operation(const std::string& text) {
  std::string known;
  for (const std::string_view word : runfile::EnumWords<runfile::Coll>::words) {
    if (lower(std::string(word)) == lower(text)) return *runfile::from_word<runfile::Coll>(word);
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return usage("--op: unknown operation \"" + text + "\"; known are " + known);
}

Result<Options> checked(const Words& words) {
  Options options;
  auto study = chosen_study(words.study);
  if (!study) return tl::unexpected(std::move(study.error()));
  if (words.wants_definitions) {
    options.text = (*study)->definitions;
    return options;
  }
  if (words.run_file.empty()) return usage("no run file given; jaxprof-study " + words.study + " RUN.h5");
  const auto format = format_from_word(words.format);
  if (!format) return usage("--format: \"" + words.format + "\" is none of table, csv, tsv, json, md");
  if (!(*study)->takes_filters && !(words.op.empty() && words.ranks.empty())) {
    return usage(std::string((*study)->name) + " is of the whole run and takes no " +
                 (words.op.empty() ? "--ranks" : "--op") + "; spread does");
  }
  if (words.wants_all && !(*study)->takes_all) {
    return usage(std::string((*study)->name) + " has nothing more to show and takes no --all; summary and env do");
  }
  std::size_t fault_offset = 0;
  if (!words.ranks.empty() && !check_number_list(words.ranks.c_str(), &fault_offset)) {
    return usage("--ranks: not a list of ranks from \"" +
                 words.ranks.substr(std::min(fault_offset, words.ranks.size())) + "\" on; write 0,8-15,0-1023:128");
  }
  if (!words.op.empty()) {
    const auto op = operation(words.op);
    if (!op) return tl::unexpected(op.error());
    options.filters.op = *op;
  }
  options.study = *study;
  options.run_file = words.run_file;
  options.filters.ranks = words.ranks;
  options.filters.lists_all = words.wants_all;
  options.filters.is_for_programs = *format != Format::kTable && *format != Format::kMd;
  options.render = {*format, words.is_wide};
  options.output = words.output;
  return options;
}

}  // namespace

Result<Options> parse_options(std::vector<std::string> arguments) {
  CLI::App app{"Answers questions about a run from its run file.", "jaxprof-study"};
  Words words;
  declare(app, words);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    Options options;
    options.text = app.help();
    return options;
  } catch (const CLI::CallForVersion&) {
    Options options;
    options.text = app.version() + "\n";
    return options;
  } catch (const CLI::Error& error) {
    return usage(std::string(error.what()) + "; see jaxprof-study --help");
  }
  return checked(words);
}

}  // namespace jaxprof::study
