// Records as the probe writes them, for the tests of what reads them.
#pragma once

#include <cstdint>
#include <string>

#include "netsampler/gpu/probe_record.h"

namespace jaxprof::test {

netsampler::ProbeGpu probe_gpu(std::uint32_t gpu);
// All values are missing but the SM clock, which is `sm_clock`.
netsampler::ProbeSample probe_sample(std::uint32_t gpu, std::uint64_t stamp, std::uint64_t sm_clock);
netsampler::ProbeNote probe_note(std::uint32_t note, const std::string& text);

netsampler::ProbeRecord record_of(netsampler::ProbeKind kind);
netsampler::ProbeRecord record_of(const netsampler::ProbeGpu& gpu);
netsampler::ProbeRecord record_of(const netsampler::ProbeSample& sample);
netsampler::ProbeRecord record_of(const netsampler::ProbeNote& note);
std::string bytes_of(const netsampler::ProbeRecord& record);

}  // namespace jaxprof::test
