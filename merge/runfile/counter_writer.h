// Writes the groups below /counters: one group a driver, one dataset a counter, and what the counter means as the
// dataset's attributes. The writing thread only.
#pragma once

#include "agent/base/result.h"
#include "merge/runfile/chunk_pool.h"
#include "merge/runfile/counter_table.h"
#include "merge/runfile/hdf5_handle.h"

namespace jaxprof::runfile {

Status write_counters(hid_t file, ChunkPool& pool, const CounterTable& table);

// The dataset of a counter: its name, with what a path cannot hold replaced. Two names of one group may come out alike.
std::string counter_dataset_name(std::string_view name);

}  // namespace jaxprof::runfile
