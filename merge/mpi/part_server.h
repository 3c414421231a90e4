// A process of a merge that reads: its share of the spools, for the process that writes.
#pragma once

#include "merge/assembly/run_sources.h"
#include "merge/mpi/peers.h"
#include "merge/runfile/chunk_encoder.h"

namespace jaxprof::merge {

// Process `rank` of `size` reads every size-th of `count` processes of a run.
std::vector<std::size_t> share_of(int rank, int size, std::size_t count);

// Reads this process's share with `n_threads` (0: as many as the machine has), and sends it to process 0. Returns when
// all is sent. `budget_bytes` is about what parts may take. Fails if process 0 answers nonsense.
Status serve_parts(const assembly::RunSources& sources, unsigned n_threads, std::size_t budget_bytes,
                   runfile::Compression compression, Peers* peers);

}  // namespace jaxprof::merge
