#include "merge/program/write_run.h"

#include <unistd.h>

#include <utility>

#include "merge/program/file_sink.h"
#include "merge/program/narration.h"
#include "merge/program/progress.h"
#include "merge/program/stop_signals.h"
#include "merge/runfile/run_file_stream.h"

namespace jaxprof::merge {
namespace {

runfile::WriteOptions write_options_of(const Options& options) {
  runfile::WriteOptions to;
  to.may_replace = options.may_replace;
  to.compression = options.compression;
  to.n_threads = options.n_threads;
  to.scratch_folder = options.scratch;
  return to;
}

void tell(const Options& options, const std::string& note, const runfile::RunTables& run) {
  if (options.is_quiet) return;
  if (!note.empty()) print(note_line(note));
  print(clock_line(run));
  print(read_line(run));
  for (const std::string& line : finding_lines(run, options.output)) print(line);
  if (run.processes.process.empty()) print(nothing_line(run));
}

}  // namespace

void print(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) return;
}

Result<int> write_run(
    const Options& options, const std::string& note,
    const std::function<Result<assembly::AssembledRun>(const assembly::Room&, assembly::EventSink*)>& assemble) {
  StopSignals stop;  // before the stream has threads
  auto stream = runfile::RunFileStream::create(options.output, write_options_of(options));
  if (!stream) return tl::unexpected(std::move(stream.error()));
  stop.remove_on_stop(stream->part_path());
  FileSink sink(&*stream);
  Result<assembly::AssembledRun> assembled;
  {
    ProgressLine progress(options.is_quiet ? -1 : STDOUT_FILENO);
    assembly::Room room;
    room.n_threads = options.n_threads;
    room.budget_bytes = options.memory_bytes;
    room.scratch_folder = options.scratch;
    room.on_progress = [&progress](const assembly::Progress& how_far) { progress.show(how_far); };
    assembled = assemble(room, &sink);
  }
  if (!assembled) return tl::unexpected(std::move(assembled.error()));
  const auto written = stream->finish(assembled->tables);
  // The run file comes first: who reads the lines may be slow, or gone.
  tell(options, note, assembled->tables);
  if (!written) return tl::unexpected(written.error());
  if (!options.is_quiet) print(written_line(options.output, written->size_bytes, assembled->is_partial));
  return assembled->is_partial && !options.allows_partial ? exit_status(ErrorCode::kPartial) : 0;
}

}  // namespace jaxprof::merge
