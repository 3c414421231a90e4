// jaxprof-merge DIRECTORY -o run.h5: everything that one run left, on one time axis, in one file. What is missing or
// damaged makes the result partial, never impossible: it is named on the terminal and in the file, and the exit status
// says so.
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/log.h"
#include "merge/assembly/assemble_run.h"
#include "merge/program/choose_run.h"
#include "merge/program/kept_memory.h"
#include "merge/program/observer_end.h"
#include "merge/program/options.h"
#include "merge/program/write_run.h"
#include "merge/rundir/run_directory.h"
#include "merge/runfile/run_file_writer.h"

namespace jaxprof::merge {
namespace {

// The exit status, or what went wrong.
Result<int> run(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  if (!options->text.empty()) {
    if (write(STDOUT_FILENO, options->text.data(), options->text.size()) < 0) return 5;
    return 0;
  }
  // Reading may take long: what would keep the run file from being written is told before.
  if (const auto can = runfile::check_output(options->output, options->may_replace); !can) {
    return tl::unexpected(can.error());
  }
  auto directory = rundir::read_run_directory(options->directory);
  if (!directory) return tl::unexpected(std::move(directory.error()));
  auto found = choose_run(std::move(*directory), options->run);
  if (!found) return tl::unexpected(std::move(found.error()));
  found->run.is_to_be_redacted = options->is_redacted;
  wait_for_observers(found->run.node_spools);
  return write_run(*options, found->note, [&found](const assembly::Room& room, assembly::EventSink* sink) {
    return assembly::assemble_run(std::move(found->run), room, sink);
  });
}

}  // namespace
}  // namespace jaxprof::merge

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader of our lines that is gone costs the lines only
  std::signal(SIGXFSZ, SIG_IGN);  // a file that reaches its size limit is an error with a name
  jaxprof::set_program_name("jaxprof-merge");
  jaxprof::merge::keep_memory();
  const auto status = jaxprof::merge::run({argv + 1, argv + argc});
  if (status) return *status;
  jaxprof::say(status.error().message);
  return jaxprof::exit_status(status.error().code);
}
