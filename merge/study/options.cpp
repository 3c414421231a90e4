// The one file of jaxprof-study that knows CLI11, which throws.
#include "merge/study/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>

#include "merge/study/filter_words.h"

namespace jaxprof::study {
namespace {

// What CLI11 fills.
struct Words {
  std::string study, format = "table", op, ranks, steps, segment, window, by, reference, fail_on, output;
  std::vector<std::string> run_files;
  std::size_t top = 0;
  bool has_top = false;
  bool is_wide = false;
  bool wants_definitions = false;
  bool wants_all = false;
  bool wants_all_steps = false;
  bool wants_histogram = false;
  bool wants_saving = false;
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
  return text +
         fmt::format("  {:<12} {}\n", "report", "all of them as one page to look at: jaxprof-study report --help") +
         fmt::format("  {:<12} {}\n", "export", "a trace for Perfetto, tables as CSV: jaxprof-study export --help") +
         "\nExit status: 0 done, 1 a finding and --fail-on, 2 usage, 3 run file unreadable, 5 output not written.\n"
         "jaxprof-study STUDY --explain says which options a study takes, and what its numbers mean.";
}

void declare(CLI::App& app, Words& words) {
  app.set_version_flag("--version", "jaxprof-study " JAXPROF_VERSION);
  app.add_option("STUDY", words.study, "what to ask; the list is below");
  app.add_option("RUN.h5", words.run_files, "a run file of jaxprof-merge; diff takes two, audit any number");
  app.add_option("--format", words.format, "table, csv, tsv, json or md; csv, tsv and json hold raw values")
      ->capture_default_str();
  app.add_option("--op", words.op, "only this operation: AllReduce, AllGather, ReduceScatter, ...");
  app.add_option("--ranks", words.ranks, "only these ranks: 0,8-15,0-1023:128");
  app.add_option("--steps", words.steps, "only these steps, by number: 200-240; without it all but warm-up");
  app.add_flag("--all-steps", words.wants_all_steps, "all steps, warm-up too");
  app.add_option("--segment", words.segment, "only this opening of the window, counted from 0");
  app.add_option("--window", words.window, "only this part of the run: T0:T1 in seconds, or with ms, us, ns behind");
  app.add_option("--by", words.by, "what a row stands for: member, rank, gpu, node, comm, step or run");
  app.add_option("--ref", words.reference, "spread: a file with nccl-tests' output to compare with");
  app.add_flag("--histogram", words.wants_histogram, "spread: how many calls took how long, in place of percentiles");
  app.add_flag("--all", words.wants_all,
               "summary: every finding of the merge in a row of its own; env: every value, in full");
  app.add_option("--top", words.top, "at most so many rows, 0 for all; formats for people have a limit of their own")
      ->each([&words](const std::string&) { words.has_top = true; });
  app.add_option("--out", words.output, "write to this file, which may exist, instead of standard output");
  app.add_flag("--save", words.wants_saving, "besides, put the table into RUN.analysis.h5, beside the run file");
  app.add_option("--fail-on", words.fail_on, "warning or critical: exit with 1 if the study finds one or worse");
  app.add_flag("--wide", words.is_wide, "table and md: show every column");
  app.add_flag("--explain", words.wants_definitions, "print the definitions of the study and end");
  app.footer(list_of_studies());
}

Result<const Study*> chosen_study(const std::string& name) {
  if (const Study* study = find_study(name); study != nullptr) return study;
  std::string known;
  for (const Study& study : all_studies()) known += (known.empty() ? "" : ", ") + std::string(study.name);
  known += ", report, export";
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

// An option that was given, and the studies that take it.
Status refuse_untaken(const Study& study, const Words& words) {
  struct Given {
    bool is_given;
    unsigned bit;
    const char* name;
  };
  const Given all[] = {{!words.op.empty(), kTakesOp, "--op"},
                       {!words.ranks.empty(), kTakesRanks, "--ranks"},
                       {!words.steps.empty(), kTakesTime, "--steps"},
                       {words.wants_all_steps, kTakesTime, "--all-steps"},
                       {!words.segment.empty(), kTakesTime, "--segment"},
                       {!words.window.empty(), kTakesTime, "--window"},
                       {!words.reference.empty(), kTakesReference, "--ref"},
                       {words.wants_histogram, kTakesHistogram, "--histogram"},
                       {words.wants_all, kTakesAll, "--all"}};
  for (const Given& given : all) {
    if (!given.is_given || (study.takes & given.bit) != 0) continue;
    std::string takers;
    for (const Study& other : all_studies()) {
      if ((other.takes & given.bit) != 0) takers += (takers.empty() ? "" : ", ") + std::string(other.name);
    }
    return usage(fmt::format("{} takes no {}{}", study.name, given.name, takers.empty() ? "" : "; taken by " + takers));
  }
  return {};
}

Status check_run_files(const Study& study, const std::vector<std::string>& run_files) {
  if (run_files.empty()) return usage(fmt::format("no run file given; jaxprof-study {} RUN.h5", study.name));
  if (study.compare != nullptr || run_files.size() == 1) return {};
  return usage(fmt::format("{} is of one run file, and {} were given, \"{}\" the second of them", study.name,
                           run_files.size(), run_files[1]));
}

Status read_grouping(const Study& study, const std::string& text, StudyOptions& options) {
  if (text.empty()) return {};
  const auto by = by_from_word(text);
  std::string known;
  for (const By grouping : study.groupings) known += (known.empty() ? "" : ", ") + std::string(word(grouping));
  if (known.empty()) return usage(fmt::format("{} takes no --by", study.name));
  if (!by || std::find(study.groupings.begin(), study.groupings.end(), *by) == study.groupings.end()) {
    return usage(fmt::format("--by: \"{}\" is none of {}, which {} has", text, known, study.name));
  }
  options.by = *by;
  return {};
}

Status read_filters(const Words& words, StudyOptions& options) {
  if (auto good = check_list("--ranks", words.ranks, "ranks", "0,8-15,0-1023:128"); !good) return good;
  if (auto good = check_list("--steps", words.steps, "steps", "200-240"); !good) return good;
  options.ranks = words.ranks;
  options.steps = words.steps;
  options.has_all_steps = words.wants_all_steps;
  if (options.has_all_steps && !words.steps.empty()) return usage("--steps and --all-steps contradict each other");
  if (!words.op.empty()) {
    const auto op = operation(words.op);
    if (!op) return tl::unexpected(op.error());
    options.op = *op;
  }
  if (!words.segment.empty()) {
    std::uint32_t segment = 0;
    const char* end = words.segment.data() + words.segment.size();
    const auto [stop, error] = std::from_chars(words.segment.data(), end, segment);
    if (error != std::errc{} || stop != end) return usage("--segment: \"" + words.segment + "\" is no number");
    options.segment = segment;
  }
  if (!words.window.empty()) {
    const auto window = parse_window(words.window);
    if (!window) return tl::unexpected(window.error());
    options.window = *window;
  }
  options.reference = words.reference;
  options.has_histogram = words.wants_histogram;
  options.lists_all = words.wants_all;
  return {};
}

Result<std::optional<Finding>> finding_to_fail_on(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "warning") return Finding::kWarning;
  if (text == "critical") return Finding::kCritical;
  return usage("--fail-on: \"" + text + "\" is neither warning nor critical");
}

Result<Options> checked(const Words& words) {
  Options options;
  auto study = chosen_study(words.study);
  if (!study) return tl::unexpected(std::move(study.error()));
  if (words.wants_definitions) {
    options.text = (*study)->definitions;
    return options;
  }
  const auto format = format_from_word(words.format);
  if (!format) return usage("--format: \"" + words.format + "\" is none of table, csv, tsv, json, md");
  auto status = check_run_files(**study, words.run_files)
                    .and_then([&] { return refuse_untaken(**study, words); })
                    .and_then([&] { return read_grouping(**study, words.by, options.filters); })
                    .and_then([&] { return read_filters(words, options.filters); });
  if (!status) return tl::unexpected(std::move(status.error()));
  const auto fail_on = finding_to_fail_on(words.fail_on);
  if (!fail_on) return tl::unexpected(fail_on.error());
  const bool is_for_people = *format == Format::kTable || *format == Format::kMd;
  options.study = *study;
  options.run_files = words.run_files;
  options.filters.is_for_programs = !is_for_people;
  options.top = words.has_top ? words.top : is_for_people ? (*study)->shown_rows : 0;
  options.render = {*format, words.is_wide};
  options.output = words.output;
  options.is_saved = words.wants_saving;
  options.fail_on = *fail_on;
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
