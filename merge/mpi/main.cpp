// jaxprof-merge-mpi DIRECTORY -o run.h5, under mpirun or srun: what jaxprof-merge does, by several processes. Options,
// lines, exit status and file are the same.
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/log.h"
#include "merge/assembly/assemble_run.h"
#include "merge/mpi/mpi_peers.h"
#include "merge/mpi/part_messages.h"
#include "merge/mpi/part_server.h"
#include "merge/mpi/shared_parts.h"
#include "merge/program/choose_run.h"
#include "merge/program/kept_memory.h"
#include "merge/program/observer_end.h"
#include "merge/program/options.h"
#include "merge/program/write_run.h"
#include "merge/rundir/run_directory.h"
#include "merge/runfile/run_file_writer.h"

namespace jaxprof::merge {
namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "a node";
}

// Opens the run when the first process says so, which waits for observers that are still writing; fails if this process
// sees other files than the first one.
Result<assembly::RunSources> open_alike(rundir::FoundRun run, Peers* peers) {
  if (peers->rank() == 0) {
    wait_for_observers(run.node_spools);
    for (int peer = 1; peer < peers->size(); ++peer) peers->send(peer, MessageKind::kSources, {});
    assembly::RunSources sources = assembly::open_sources(std::move(run));
    const Message seen = pack(sources);
    for (int peer = 1; peer < peers->size(); ++peer) peers->send(peer, MessageKind::kSources, seen);
    return sources;
  }
  (void)peers->receive(0, MessageKind::kSources);
  assembly::RunSources sources = assembly::open_sources(std::move(run));
  if (pack(sources) == peers->receive(0, MessageKind::kSources)) return sources;
  return fail(
      ErrorCode::kInputUnreadable,
      "process " + std::to_string(peers->rank()) + " on " + host_name() +
          " sees other spools in the run directory than process 0: it is not shared, or a job still writes there");
}

// The exit status, or what went wrong.
Result<int> run(std::vector<std::string> arguments, Peers* peers) {
  const bool is_first = peers->rank() == 0;
  const auto options = parse_options(std::move(arguments), "jaxprof-merge-mpi");
  if (!options) return tl::unexpected(options.error());
  if (!options->text.empty()) {
    if (is_first && write(STDOUT_FILENO, options->text.data(), options->text.size()) < 0) return 5;
    return 0;
  }
  if (is_first) {
    const auto can = runfile::check_output(options->output, options->may_replace);
    if (!can) return tl::unexpected(can.error());
  }
  auto directory = rundir::read_run_directory(options->directory);
  if (!directory) return tl::unexpected(std::move(directory.error()));
  auto found = choose_run(std::move(*directory), options->run);
  if (!found) return tl::unexpected(std::move(found.error()));
  found->run.is_to_be_redacted = options->is_redacted;
  const auto sources = open_alike(std::move(found->run), peers);
  if (!sources) return tl::unexpected(sources.error());
  if (!is_first) {
    return serve_parts(*sources, options->n_threads, options->memory_bytes, options->compression, peers).map([] {
      return 0;
    });
  }
  return write_run(*options, found->note, [&](const assembly::Room& room, assembly::EventSink* sink) {
    SharedParts parts(*sources, room.n_threads, room.budget_bytes, peers);
    return assembly::assemble_run(*sources, room, &parts, sink);
  });
}

}  // namespace
}  // namespace jaxprof::merge

int main(int argc, char** argv) {
  using jaxprof::merge::MpiPeers;
  std::signal(SIGPIPE, SIG_IGN);  // a reader of our lines that is gone costs the lines only
  std::signal(SIGXFSZ, SIG_IGN);  // a file that reaches its size limit is an error with a name
  jaxprof::set_program_name("jaxprof-merge-mpi");
  jaxprof::merge::keep_memory();
  MpiPeers peers(&argc, &argv);
  const auto status = jaxprof::merge::run({argv + 1, argv + argc}, &peers);
  if (status) return *status;
  // All see the same faults, but for those of their own node; the first one's word is enough of the former.
  const bool is_own = status.error().code == jaxprof::ErrorCode::kInputUnreadable;
  if (peers.rank() == 0 || is_own) jaxprof::say(status.error().message);
  MpiPeers::end_all(jaxprof::exit_status(status.error().code));
}
