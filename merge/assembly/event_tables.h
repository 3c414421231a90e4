// All events of a run, from spools to a sink: the parts of processes are numbered in their order and go to the sink,
// and their NCCL calls are matched when all are known. At any time only a few processes' rows are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "agent/base/result.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/event_sink.h"
#include "merge/assembly/part_source.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// How much of the spools has been read.
struct Progress {
  std::size_t processes = 0;
  std::size_t all_processes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t all_bytes = 0;
  std::uint64_t records = 0;
};

// What may be taken of the machine.
struct Room {
  unsigned n_threads = 0;                              // 0: as many as it has
  std::size_t budget_bytes = 256U << 20;               // about, for rows and records; one process's rows may be more
  std::string scratch_folder = "/tmp";                 // for what is more than that
  std::function<void(const Progress&)> on_progress{};  // after each process; none: nobody asks
};

// `run` has its processes and /clock; times there are absolute. `parts` are of all its processes. Fills what the events
// tell of the rest: devices, communicators, launch configurations, segments, offsets, attributes. `epoch_ns` is zero of
// the rows' axis.
Status fill_event_tables(const RunSources& sources, const Room& room, std::int64_t epoch_ns, PartSource* parts,
                         EventSink* sink, runfile::RunTables* run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
