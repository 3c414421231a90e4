// The one file of the report that knows CLI11, which throws.
#include "merge/report/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace jaxprof::report {

std::string page_path(const std::string& run_file) {
  constexpr std::string_view kEnding = ".h5";
  const bool has_ending = run_file.ends_with(kEnding) && run_file.size() > kEnding.size();
  return (has_ending ? run_file.substr(0, run_file.size() - kEnding.size()) : run_file) + ".html";
}

Result<Options> parse_options(std::vector<std::string> arguments) {
  CLI::App app{
      "Writes what every study says of a run, with figures, as one HTML file. It holds all that it shows: it can be "
      "mailed, "
      "and opens without a network.",
      "jaxprof-study report"};
  Options options;
  app.add_option("RUN.h5", options.run_file, "a run file of jaxprof-merge")->required();
  app.add_option("-o,--out", options.output, "the page, which may exist; by default RUN.html beside the run file")
      ->option_text("FILE");
  app.add_option("--ref", options.reference, "a file with nccl-tests' output, to compare calls with")
      ->option_text("FILE");
  app.footer(
      "Exit status: 0 done, 2 usage, 3 run file unreadable, 4 written, but a study could not be computed; the page "
      "says "
      "why, 5 page not written.");
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
    return options;
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + "; see jaxprof-study report --help");
  }
  if (options.output.empty()) options.output = page_path(options.run_file);
  if (options.output == options.run_file) {
    return fail(ErrorCode::kUsage, "--out: \"" + options.output + "\" is the run file itself");
  }
  return options;
}

}  // namespace jaxprof::report
