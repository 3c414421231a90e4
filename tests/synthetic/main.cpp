// synthetic_run DIRECTORY …: the directory of a run that a merge can read, of any size, with known truth. Prints the
// truth as JSON on standard output. For tests and benches of the merge; nothing of it runs on a GPU.
#include <cstdio>
#include <string>
#include <vector>

#include "agent/base/log.h"
#include "tests/synthetic/options.h"
#include "tests/synthetic/run_writer.h"

namespace jaxprof::synthetic {
namespace {

Result<std::string> write(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  if (!options->text.empty()) return options->text;
  const auto run = Run::prepare(options->plan);
  if (!run) return tl::unexpected(run.error());
  const auto truth = write_run(*run, options->directory, options->threads);
  if (!truth) return tl::unexpected(truth.error());
  return to_json(*truth, *run);
}

}  // namespace
}  // namespace jaxprof::synthetic

int main(int argc, char** argv) {
  jaxprof::set_program_name("synthetic_run");
  const auto text = jaxprof::synthetic::write({argv + 1, argv + argc});
  if (!text) {
    jaxprof::say(text.error().message);
    return jaxprof::exit_status(text.error().code);
  }
  std::fputs(text->c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : jaxprof::exit_status(jaxprof::ErrorCode::kOutputFailed);
}
