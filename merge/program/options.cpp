// The one file of jaxprof-merge that knows CLI11, which throws.
#include "merge/program/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "merge/program/output_name.h"
#include "merge/runfile/output_file.h"

namespace jaxprof::merge {

namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr std::size_t kLeastMemoryBytes = 1U << 20;

// jaxprof-exec takes `-f true` as two words; CLI11's flags take a value only behind a "=".
void join_flag_values(std::vector<std::string>* arguments) {
  for (std::size_t i = 0; i + 1 < arguments->size(); ++i) {
    const std::string& flag = (*arguments)[i];
    const std::string& value = (*arguments)[i + 1];
    if ((flag != "-f" && flag != "--force-overwrite") || (value != "true" && value != "false")) continue;
    (*arguments)[i] = "--force-overwrite=" + value;
    arguments->erase(arguments->begin() + static_cast<std::ptrdiff_t>(i + 1));
  }
}

}  // namespace

Result<Options> parse_options(std::vector<std::string> arguments, const std::string& program) {
  Options options;
  CLI::App app("Reads what jaxprof-exec left in a run directory and writes it as one run file.", program);
  app.set_version_flag("--version", program + " " JAXPROF_VERSION);
  app.add_option("DIRECTORY", options.directory, "the directory that jaxprof-exec -o named, or one spool")->required();
  app.add_option("-o,--output", options.output, "the run file to write; no *.jxspool")->default_str("run.h5");
  app.add_flag("-f,--force-overwrite", options.may_replace,
               "replace the run file if it exists; may be followed by true or false");
  app.add_option("--run", options.run, "which run, where the directory holds several: JOB.STEP.RESTART");
  app.add_flag("--allow-partial", options.allows_partial,
               "exit 0 even if ranks are missing or files are cut; they are listed all the same");
  std::string compression = "gzip";
  app.add_option("--compression", compression, "of the columns: gzip, or none, which makes a much larger file")
      ->check(CLI::IsMember({"gzip", "none"}))
      ->option_text("gzip|none [gzip]");
  app.add_option("--threads", options.n_threads,
                 "threads that read and compress; by default as many as the machine has")
      ->check(CLI::Range(1U, kMaxThreads))
      ->option_text("N");
  app.add_option("--memory", options.memory_bytes, "about how much memory to take for what is read and not yet written")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kLeastMemoryBytes, std::numeric_limits<std::size_t>::max()))
      ->option_text("SIZE [256MB]");
  app.add_option("--scratch", options.scratch, "folder for what is more than that; by default that of the run file")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIRECTORY");
  app.add_flag("--redact", options.is_redacted,
               "leave out who ran what where: names of hosts, paths, addresses, values of variables, and the command's "
               "arguments");
  app.add_flag("--quiet", options.is_quiet, "say nothing but errors");
  app.footer(
      "Exit status: 0 done, 2 usage, 3 input unreadable, 4 done but partial (ranks missing, spools cut or damaged),\n"
      "5 run file not written.");
  join_flag_values(&arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
  } catch (const CLI::CallForVersion&) {
    options.text = app.version() + "\n";
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, std::string(error.what()) + " (--help lists the options)");
  }
  options.compression = compression == "none" ? runfile::Compression::kNone : runfile::Compression::kGzip;
  if (options.output.empty()) options.output = "run.h5";
  if (options.scratch.empty()) options.scratch = runfile::folder_of(options.output);
  if (const auto can = check_output_name(options.output); !can) return tl::unexpected(can.error());
  return options;
}

}  // namespace jaxprof::merge
