#include "tests/unit/gpu/probe_samples.h"

#include <algorithm>
#include <cstring>

namespace jaxprof::test {
namespace {

using namespace netsampler;

template <typename Payload>
ProbeRecord with_payload(ProbeKind kind, const Payload& payload) {
  ProbeRecord record = record_of(kind);
  std::memcpy(record.payload, &payload, sizeof payload);
  return record;
}

template <std::size_t kBytes>
void put(const std::string& text, char (&target)[kBytes]) {
  std::memcpy(target, text.data(), std::min(text.size(), kBytes));
}

}  // namespace

ProbeGpu probe_gpu(std::uint32_t gpu) {
  ProbeGpu facts{};
  facts.gpu = gpu;
  facts.parent = kNoProbeGpu;
  facts.has_pci = 1;
  facts.pci_bus = 0x1b + gpu;
  facts.memory_bytes = 80ULL << 30U;
  facts.power_limit_mw = 700'000;
  facts.sm_clock_max_mhz = 1980;
  facts.stamp = 1000;
  put("NVIDIA H100", facts.name);
  put("GPU-" + std::to_string(gpu), facts.uuid);
  put("550.54", facts.driver);
  return facts;
}

ProbeSample probe_sample(std::uint32_t gpu, std::uint64_t stamp, std::uint64_t sm_clock) {
  ProbeSample sample{};
  sample.gpu = gpu;
  sample.stamp = stamp;
  sample.read_ns = 2001;
  std::fill(std::begin(sample.values), std::end(sample.values), kProbeMissing);
  sample.values[static_cast<std::size_t>(GpuColumn::kSmClock)] = sm_clock;
  return sample;
}

ProbeNote probe_note(std::uint32_t note, const std::string& text) {
  ProbeNote payload{};
  payload.note = note;
  put(text, payload.text);
  return payload;
}

ProbeRecord record_of(ProbeKind kind) {
  ProbeRecord record{};
  record.magic = kProbeMagic;
  record.version = kProbeVersion;
  record.kind = static_cast<std::uint16_t>(kind);
  return record;
}

ProbeRecord record_of(const ProbeGpu& gpu) {
  return with_payload(ProbeKind::kGpu, gpu);
}

ProbeRecord record_of(const ProbeSample& sample) {
  return with_payload(ProbeKind::kSample, sample);
}

ProbeRecord record_of(const ProbeNote& note) {
  return with_payload(ProbeKind::kNote, note);
}

std::string bytes_of(const ProbeRecord& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

}  // namespace jaxprof::test
