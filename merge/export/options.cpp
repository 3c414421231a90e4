// The one file of the export that knows CLI11, which throws.
#include "merge/export/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "agent/base/parse_number.h"
#include "merge/study/filter_words.h"

namespace jaxprof::exporting {
namespace {

tl::unexpected<Error> usage(std::string message) {
  return fail(ErrorCode::kUsage, std::move(message));
}

bool has_time_of(const Options& options) {
  return !options.filters.steps.empty() || options.filters.segment || options.filters.window;
}

struct Words {
  std::string window, segment;
};

void declare(CLI::App& app, Options& options, Words& words) {
  app.add_option("RUN.h5", options.run_file, "a run file of jaxprof-merge");
  app.add_option("--perfetto", options.perfetto,
                 "write a trace for https://ui.perfetto.dev to this file, which may exist")
      ->option_text("FILE");
  app.add_option("--csv", options.csv, "write every table of events of the whole run as a CSV file into this folder")
      ->option_text("DIR");
  app.add_option("--ranks", options.filters.ranks, "trace: only these ranks: 0,8-15,0-1023:128")->option_text("LIST");
  app.add_option("--steps", options.filters.steps,
                 "trace: only these steps, by number: 200-240; without this and the next three the step with most wait "
                 "and the steps around it")
      ->option_text("LIST");
  app.add_option("--window", words.window,
                 "trace: only this part of the run: T0:T1 in seconds, or with ms, us, ns behind")
      ->option_text("T0:T1");
  app.add_option("--segment", words.segment, "trace: only this opening of the window, counted from 0")
      ->option_text("N");
  app.add_flag("--whole-run", options.is_whole, "trace: all of the run");
  app.add_option("--max-slices", options.max_slices, "trace: refuse to write more slices")->capture_default_str();
  app.footer(
      "What begins in the chosen time is in the trace, with the steps and pushed NVTX ranges around it.\n"
      "Exit status: 0 done, 2 usage, or more slices than --max-slices, 3 run file unreadable, 5 not written.");
}

Status check(const Words& words, Options& options) {
  study::StudyOptions& filters = options.filters;
  if (options.run_file.empty()) return usage("no run file given; jaxprof-study export RUN.h5 --perfetto FILE");
  if (options.perfetto.empty() && options.csv.empty())
    return usage("nothing to write; give --perfetto FILE or --csv DIR");
  if (options.perfetto == options.run_file) {
    return usage("--perfetto: \"" + options.perfetto + "\" is the run file itself");
  }
  if (auto good = study::check_list("--ranks", filters.ranks, "ranks", "0,8-15,0-1023:128"); !good) return good;
  if (auto good = study::check_list("--steps", filters.steps, "steps", "200-240"); !good) return good;
  if (!words.segment.empty()) {
    const auto segment = parse_uint64(words.segment);
    if (!segment || *segment > UINT32_MAX) return usage("--segment: \"" + words.segment + "\" is no number");
    filters.segment = static_cast<std::uint32_t>(*segment);
  }
  if (!words.window.empty()) {
    const auto window = study::parse_window(words.window);
    if (!window) return tl::unexpected(window.error());
    filters.window = *window;
  }
  const bool has_choice = has_time_of(options) || options.is_whole || !filters.ranks.empty();
  if (options.perfetto.empty() && has_choice) {
    return usage(
        "--ranks, --steps, --window, --segment and --whole-run are of --perfetto; --csv writes all of the run");
  }
  if (options.is_whole && has_time_of(options)) return usage("--whole-run contradicts --steps, --window and --segment");
  return {};
}

}  // namespace

Result<Options> parse_options(std::vector<std::string> arguments) {
  CLI::App app{"Writes what is in a run file for other programs.", "jaxprof-study export"};
  Options options;
  Words words;
  declare(app, options, words);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
    return options;
  } catch (const CLI::Error& error) {
    return usage(std::string(error.what()) + "; see jaxprof-study export --help");
  }
  if (auto good = check(words, options); !good) return tl::unexpected(std::move(good.error()));
  return options;
}

}  // namespace jaxprof::exporting
