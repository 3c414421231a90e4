// Small tables and the columns of arrivals are read first; of the large ones the rows that were chosen, one process
// after the other.
#include "merge/export/perfetto.h"

#include <fmt/format.h>

#include "merge/export/call_tracks.h"
#include "merge/export/counter_tracks.h"
#include "merge/export/event_names.h"
#include "merge/export/gpu_tracks.h"
#include "merge/export/range_tracks.h"
#include "merge/export/step_tracks.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

bool is_wanted(std::string_view path) {
  return study::arrivals_of_gpus_want(path) || study::scope_wants(path) || path.starts_with("/job/") ||
         path.starts_with("/comms") || path.starts_with("/counters/") || path.ends_with("/process_offset");
}

// What was asked for, or what is most worth a look.
struct Chosen {
  RanksAndTime ranks_and_time;
  std::string why;
};

Chosen choose(const RunTables& run, const study::Scope& scope, const study::Arrivals& arrivals,
              const Options& options) {
  const study::StudyOptions& asked = options.filters;
  const bool is_asked = options.is_whole || !asked.steps.empty() || asked.segment || asked.window;
  const StepChoice steps = is_asked ? asked_steps(scope.axis(), asked) : worst_steps(scope, arrivals);
  return {choose_ranks_and_time(run, scope.axis(), steps, asked), steps.why};
}

Result<ProcessRows> find_rows(const RunFileReader& reader, const RunTables& run, std::size_t process,
                              const study::Intervals& time) {
  const auto rows_of = [process](const std::vector<std::uint64_t>& offset) {
    return RowRun{offset[process], offset[process + 1]};
  };
  ProcessRows rows;
  Status status;
  const auto take = [&status](RowRuns& to) {
    return [&status, &to](Result<RowRuns>&& found) {
      if (found) to = std::move(*found);
      if (!found && status) status = tl::unexpected(std::move(found.error()));
    };
  };
  take(rows.kernels)(rows_in<KernelTable>(reader, rows_of(run.kernel_process_offset), time.spans()));
  take(rows.memops)(rows_in<MemopTable>(reader, rows_of(run.memop_process_offset), time.spans()));
  take(rows.nvtx)(
      rows_in<NvtxTable>(reader, rows_of(run.nvtx_process_offset), time.spans()).and_then([&reader](RowRuns&& runs) {
        return with_ranges_around(reader, std::move(runs));
      }));
  rows.nccl = calls_in(run, process, time);
  if (!status) return tl::unexpected(std::move(status.error()));
  return rows;
}

// At most so many slices: a call may have one on the host and one on the GPU.
std::uint64_t most_slices(const ProcessRows& rows) {
  return count_rows(rows.nvtx) + count_rows(rows.kernels) + count_rows(rows.memops) + 2 * count_rows(rows.nccl);
}

Status check_size(std::uint64_t n_slices, const RanksAndTime& chosen, std::uint64_t max_slices) {
  if (n_slices <= max_slices) return {};
  return fail(
      ErrorCode::kUsage,
      fmt::format("{} are up to {} slices, more than {}, and a viewer may not be able to show them; choose less by "
                  "--ranks, --steps or --window, or allow more by --max-slices {}",
                  chosen.words, n_slices, max_slices, n_slices));
}

Status add_process(const ExportedProcess& process, const LateMembers& late, std::uint64_t n_collectives) {
  add_steps(process);
  add_late_arrivals(process, late);
  return add_ranges(process).and_then([&] { return add_calls(process, n_collectives); }).and_then([&] {
    return add_gpu_work(process);
  });
}

// Viewers tell processes apart by their numbers, and those of different nodes may be equal.
std::int32_t pid_of(std::size_t process) {
  return static_cast<std::int32_t>(process) + 1;
}

}  // namespace

Result<WrittenTrace> write_perfetto(const RunFileReader& reader, const Options& options) {
  const auto run = reader.read(is_wanted);
  if (!run) return tl::unexpected(run.error());
  if (auto known = study::check_ranks(*run, options.filters); !known) return tl::unexpected(known.error());
  if (auto known = study::check_scope(*run, options.filters); !known) return tl::unexpected(known.error());
  const study::Scope scope(*run, {});
  const auto arrivals = study::read_arrivals({*run, reader}, scope, {});
  if (!arrivals) return tl::unexpected(arrivals.error());
  const Chosen chosen = choose(*run, scope, *arrivals, options);
  const std::size_t n_processes = run->processes.process.size();
  const LateMembers late(*arrivals, n_processes);

  std::vector<ProcessRows> rows(n_processes);
  std::uint64_t n_slices = 0;
  for (std::size_t process = 0; process < n_processes; ++process) {
    if (chosen.ranks_and_time.is_wanted[process] == 0) continue;
    auto found = find_rows(reader, *run, process, chosen.ranks_and_time.of_process[process]);
    if (!found) return tl::unexpected(found.error());
    n_slices += most_slices(*found);
    rows[process] = std::move(*found);
  }
  if (auto fits = check_size(n_slices, chosen.ranks_and_time, options.max_slices); !fits) {
    return tl::unexpected(fits.error());
  }

  auto file = ByteFile::create(options.perfetto);
  if (!file) return tl::unexpected(file.error());
  Trace trace(*file, run->strings, run->attributes.epoch_unix_ns);
  std::vector<std::uint64_t> tracks(n_processes, 0);
  for (std::size_t process = 0; process < n_processes; ++process) {
    if (chosen.ranks_and_time.is_wanted[process] == 0) continue;
    const std::int32_t rank = run->processes.rank[process];
    tracks[process] =
        trace.add_process(pid_of(process), name_of_process(*run, process), rank < 0 ? pid_of(process) : rank);
    const ExportedProcess exported{*run,    reader,        scope.axis(), chosen.ranks_and_time.of_process[process],
                                   process, rows[process], trace,        tracks[process]};
    if (auto added = add_process(exported, late, run->collectives.comm.size()); !added) {
      return tl::unexpected(added.error());
    }
  }
  add_counters(*run, chosen.ranks_and_time, tracks, trace);
  const auto n_bytes = file->publish();
  if (!n_bytes) return tl::unexpected(n_bytes.error());
  std::string words = chosen.ranks_and_time.words + (chosen.why.empty() ? "" : "; " + chosen.why);
  return WrittenTrace{*n_bytes, trace.n_slices(), std::move(words)};
}

}  // namespace jaxprof::exporting
