// What jaxprof-probe writes to its pipe. All records have the same size, so that a reader need not believe a length,
// and are smaller than PIPE_BUF, so that each is written whole. Writer and reader are of one build on one node: numbers
// are the processor's own. Stamps are CLOCK_MONOTONIC_RAW in ns. Texts are zero-terminated UTF-8. Agent-safe.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "netsampler/gpu/gpu_column.h"

namespace jaxprof::netsampler {

inline constexpr std::uint32_t kProbeMagic = 0x4250584aU;  // "JXPB"
inline constexpr std::uint16_t kProbeVersion = 1;
inline constexpr std::size_t kProbePayloadBytes = 496;
inline constexpr std::uint32_t kMaxProbeGpus = 256;  // boards and instances
inline constexpr std::uint32_t kNoProbeGpu = UINT32_MAX;
inline constexpr std::uint64_t kProbeMissing = UINT64_MAX;  // a value that there is not

enum class ProbeKind : std::uint16_t {
  kHello = 1,   // the probe lives; no payload. Again while it has nothing else to say.
  kGpu = 2,     // ProbeGpu
  kSample = 3,  // ProbeSample
  kNote = 4,    // ProbeNote
};

struct ProbeGpu {
  std::uint32_t gpu;     // counts from 0
  std::uint32_t parent;  // of an instance (MIG): the board's number; else kNoProbeGpu
  std::uint32_t pci_domain;
  std::uint32_t pci_bus;
  std::uint32_t pci_device;
  std::uint32_t has_pci;
  std::uint64_t memory_bytes;  // 0 unknown, as the next two
  std::uint64_t power_limit_mw;
  std::uint64_t sm_clock_max_mhz;
  std::uint64_t stamp;
  char name[96];    // NVML_DEVICE_NAME_V2_BUFFER_SIZE
  char uuid[96];    // NVML_DEVICE_UUID_V2_BUFFER_SIZE
  char driver[80];  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
};

enum ProbeSampleFlag : std::uint32_t {
  kProbeLost = 1U << 0,  // the board is gone; no values, and no further samples of it
};

struct ProbeSample {
  std::uint32_t gpu;
  std::uint32_t flags;    // ProbeSampleFlag
  std::uint64_t stamp;    // before the read began
  std::uint64_t read_ns;  // how long it took
  std::uint64_t values[kGpuColumnCount];
};

struct ProbeNote {
  std::uint32_t note;  // spool::NodeNote
  std::uint32_t reserved;
  char text[480];
};

struct ProbeRecord {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t kind;  // ProbeKind
  std::uint64_t reserved;
  unsigned char payload[kProbePayloadBytes];
};

static_assert(sizeof(ProbeRecord) == 512 && sizeof(ProbeRecord) <= PIPE_BUF);
static_assert(offsetof(ProbeRecord, payload) == 16);
static_assert(sizeof(ProbeGpu) == 328 && offsetof(ProbeGpu, name) == 56);
static_assert(sizeof(ProbeSample) == 24 + 8 * kGpuColumnCount && offsetof(ProbeSample, values) == 24);
static_assert(sizeof(ProbeNote) == 488 && offsetof(ProbeNote, text) == 8);
static_assert(sizeof(ProbeGpu) <= kProbePayloadBytes && sizeof(ProbeSample) <= kProbePayloadBytes);
static_assert(std::is_trivially_copyable_v<ProbeRecord> && std::is_trivially_copyable_v<ProbeGpu>);

}  // namespace jaxprof::netsampler
