// Writes the probe's records to its standard output. A pipe whose reader is slow is waited for, one whose reader is
// gone ends the probe: there is nobody else to work for. Agent-safe; jaxprof-probe's one thread.
#pragma once

#include "netsampler/gpu/probe_record.h"

namespace jaxprof::netsampler {

// False if nobody reads any more.
bool write_hello() noexcept;
bool write_gpu(const ProbeGpu& gpu) noexcept;
bool write_sample(const ProbeSample& sample) noexcept;
// `note` is a spool::NodeNote; a longer text is cut.
bool write_note(std::uint32_t note, const char* text) noexcept;

}  // namespace jaxprof::netsampler
