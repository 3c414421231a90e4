// What is to be said of a process's GPU records: how many have no usable time, whether CUPTI's clock was set meanwhile,
// why GPUs were not recorded.
#pragma once

#include <string>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/clock/gpu_clock.h"
#include "merge/match/gpu_work.h"
#include "merge/match/kernel_join.h"

namespace jaxprof::assembly {

// What left out the GPUs of a process with this identity: "-t nvtx,nccl", "--cupti off"; "" if they were asked for.
std::string not_asked_words(const spool::SpoolIdentity& id);

// `index` is the process's. `is_clock_read`: CUPTI's clock was read, so that `clock` is not only its anchors'.
void diagnose_gpu(const RunSources& sources, std::size_t index, const match::GpuWork& work,
                  const clock::GpuClockModel& clock, bool is_clock_read, Diagnostics* diagnostics);

// NCCL's kernels in CUDA graphs that `join` gave to no call, and why. `strings` has the kernels' names.
void diagnose_graph_kernels(const SourceProcess& process, std::size_t index, const match::GpuWork& work,
                            const match::NcclJoin& join, const runfile::StringTable& strings, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
