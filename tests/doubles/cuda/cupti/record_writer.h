// From what the engine did to NVIDIA's own structures, of the newest version that the headers have. A record of an
// older version is the same, cut off: the layouts only grew. The newest fields of a version that is newer than the
// headers stay zero.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <vector>

#include "tests/doubles/cuda/hooks.h"

namespace jaxprof::fake_cuda {

// A record of any kind, as it will lie in a buffer. [stride] bytes.
using RecordBytes = std::vector<std::uint8_t>;

// The kind that an operation is recorded as; CUPTI_ACTIVITY_KIND_INVALID: as none.
CUpti_ActivityKind kind_of(const Operation& operation);
// An operation's record. Begin and end are 0 as long as `has_ended` is false.
RecordBytes operation_record(const Operation& operation, CUpti_ActivityKind kind, bool has_ended,
                             std::uint32_t correlation);
// `thread` as cuptiSetThreadIdType() wants it.
RecordBytes api_record(const ApiEvent& call, std::uint32_t thread);
RecordBytes sync_record(const SyncEvent& event);
RecordBytes event_record(const EventMark& mark);
RecordBytes device_record(const DeviceFacts& device);
RecordBytes context_record(const ContextFacts& context);
RecordBytes stream_record(const StreamFacts& stream);
RecordBytes external_record(CUpti_ExternalCorrelationKind kind, std::uint64_t id, std::uint32_t correlation);
RecordBytes buffer_overhead_record(std::int64_t begin_gpu_ns, std::int64_t end_gpu_ns, std::uint32_t thread);
RecordBytes invented_record();

}  // namespace jaxprof::fake_cuda
