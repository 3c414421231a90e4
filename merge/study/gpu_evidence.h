// What the samples of GPUs say of slow kernels: clock and power against those of the other GPUs, and NVML's reasons for
// the clock. Words for a verdict; they prove nothing by themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "merge/runfile/run_tables.h"
#include "merge/study/intervals.h"

namespace jaxprof::study {

// "SM clock 1095 MHz against 1830 MHz, held back by a hardware slowdown"; "" where no sample tells of a difference.
// `devices` are rows of /job/devices, `when` is settled.
std::string gpu_evidence(const runfile::RunTables& run, std::span<const std::int32_t> devices, const Intervals& when);

bool gpu_evidence_wants(std::string_view path);

}  // namespace jaxprof::study
