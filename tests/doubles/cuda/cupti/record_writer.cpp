#include "tests/doubles/cuda/cupti/record_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/doubles/cuda/cupti/record_layout.h"

namespace jaxprof::fake_cuda {
namespace {

template <typename Record>
RecordBytes bytes_of(const Record& record) {
  RecordBytes bytes(record_stride(cupti_version(), record.kind), 0);
  if (!bytes.empty()) std::memcpy(bytes.data(), &record, std::min(bytes.size(), sizeof record));
  return bytes;
}

std::uint64_t stamp(std::int64_t gpu_ns, bool has_ended) {
  return has_ended ? static_cast<std::uint64_t>(gpu_ns) : 0;
}

CUpti_ActivityMemoryKind memory_kind(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

CUpti_ActivityMemcpyKind copy_kind(const Operation& operation) {
  const bool from_host = operation.source == CU_MEMORYTYPE_HOST;
  const bool to_host = operation.target == CU_MEMORYTYPE_HOST;
  if (from_host) return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

std::uint32_t graph_of(const Operation& operation) {
  return operation.graph_run ? operation.graph_run->graph : 0;
}

RecordBytes kernel_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityKernel13 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.registersPerThread = 32;
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  record.deviceId = operation.device;
  record.contextId = operation.context;
  record.streamId = operation.stream;
  record.gridX = static_cast<std::int32_t>(operation.grid[0]);
  record.gridY = static_cast<std::int32_t>(operation.grid[1]);
  record.gridZ = static_cast<std::int32_t>(operation.grid[2]);
  record.blockX = static_cast<std::int32_t>(operation.block[0]);
  record.blockY = static_cast<std::int32_t>(operation.block[1]);
  record.blockZ = static_cast<std::int32_t>(operation.block[2]);
  record.dynamicSharedMemory = static_cast<std::int32_t>(operation.shared_bytes);
  record.correlationId = correlation;
  record.name = operation.name;
  record.graphNodeId = operation.graph_node;
  record.graphId = graph_of(operation);
  record.channelID = operation.stream % 8 + 1;
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  record.priority = operation.priority;
  record.sourceGraphId = operation.source_graph;
  record.sourceGraphNodeId = operation.source_node;
  return bytes_of(record);
}

RecordBytes memcpy_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityMemcpy7 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = static_cast<std::uint8_t>(copy_kind(operation));
  record.srcKind = static_cast<std::uint8_t>(memory_kind(operation.source));
  record.dstKind = static_cast<std::uint8_t>(memory_kind(operation.target));
  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  record.bytes = operation.bytes;
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  record.deviceId = operation.device;
  record.contextId = operation.context;
  record.streamId = operation.stream;
  record.correlationId = correlation;
  record.graphNodeId = operation.graph_node;
  record.graphId = graph_of(operation);
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  record.copyCount = 1;
  record.sourceGraphId = operation.source_graph;
  record.sourceGraphNodeId = operation.source_node;
  return bytes_of(record);
}

RecordBytes peer_copy_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityMemcpyPtoP4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.srcKind = record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  record.bytes = operation.bytes;
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  record.deviceId = operation.device;
  record.contextId = operation.context;
  record.streamId = operation.stream;
  record.srcDeviceId = operation.source_device;
  record.dstDeviceId = operation.target_device;
  record.correlationId = correlation;
  record.graphNodeId = operation.graph_node;
  record.graphId = graph_of(operation);
  return bytes_of(record);
}

RecordBytes memset_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityMemset5 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.value = operation.fill_value;
  record.bytes = operation.bytes;
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  record.deviceId = operation.device;
  record.contextId = operation.context;
  record.streamId = operation.stream;
  record.correlationId = correlation;
  record.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.graphNodeId = operation.graph_node;
  record.graphId = graph_of(operation);
  record.sourceGraphId = operation.source_graph;
  record.sourceGraphNodeId = operation.source_node;
  return bytes_of(record);
}

RecordBytes graph_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityGraphTrace2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = correlation;
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  record.deviceId = record.endDeviceId = operation.device;
  record.graphId = graph_of(operation);
  record.contextId = record.endContextId = operation.context;
  record.streamId = operation.stream;
  return bytes_of(record);
}

RecordBytes graph_host_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityGraphHostNode record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE;
  record.streamId = operation.stream;
  record.contextId = operation.context;
  record.deviceId = operation.device;
  record.correlationId = correlation;
  record.graphId = graph_of(operation);
  record.graphNodeId = operation.graph_node;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  return bytes_of(record);
}

RecordBytes host_launch_record(const Operation& operation, bool has_ended, std::uint32_t correlation) {
  CUpti_ActivityHostLaunch record{};
  record.kind = CUPTI_ACTIVITY_KIND_HOST_LAUNCH;
  record.streamId = operation.stream;
  record.contextId = operation.context;
  record.deviceId = operation.device;
  record.correlationId = correlation;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.start = stamp(operation.begin_gpu_ns, has_ended);
  record.end = stamp(operation.end_gpu_ns, has_ended);
  return bytes_of(record);
}

}  // namespace

CUpti_ActivityKind kind_of(const Operation& operation) {
  switch (operation.kind) {
    case kFakeCudaKernel:
      return CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    case kFakeCudaCopy:
      return operation.source_device == operation.target_device ? CUPTI_ACTIVITY_KIND_MEMCPY
                                                                : CUPTI_ACTIVITY_KIND_MEMCPY2;
    case kFakeCudaFill:
      return CUPTI_ACTIVITY_KIND_MEMSET;
    case kFakeCudaHost:
      return operation.graph_run ? CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE : CUPTI_ACTIVITY_KIND_HOST_LAUNCH;
    case kFakeCudaGraph:
      return CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  }
  return CUPTI_ACTIVITY_KIND_INVALID;
}

RecordBytes operation_record(const Operation& operation, CUpti_ActivityKind kind, bool has_ended,
                             std::uint32_t correlation) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kernel_record(operation, has_ended, correlation);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return memcpy_record(operation, has_ended, correlation);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return peer_copy_record(operation, has_ended, correlation);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return memset_record(operation, has_ended, correlation);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return graph_record(operation, has_ended, correlation);
    case CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE:
      return graph_host_record(operation, has_ended, correlation);
    case CUPTI_ACTIVITY_KIND_HOST_LAUNCH:
      return host_launch_record(operation, has_ended, correlation);
    default:
      return {};
  }
}

RecordBytes api_record(const ApiEvent& call, std::uint32_t thread) {
  CUpti_ActivityAPI record{};
  record.kind = call.is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = call.cbid;
  record.start = static_cast<std::uint64_t>(call.begin_gpu_ns);
  record.end = static_cast<std::uint64_t>(call.end_gpu_ns);
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = thread;
  record.correlationId = call.correlation;
  record.returnValue = static_cast<std::uint32_t>(call.result);
  return bytes_of(record);
}

RecordBytes sync_record(const SyncEvent& event) {
  static constexpr CUpti_ActivitySynchronizationType kTypes[] = {
      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE};
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = kTypes[static_cast<std::size_t>(event.kind)];
  record.start = static_cast<std::uint64_t>(event.begin_gpu_ns);
  record.end = static_cast<std::uint64_t>(event.end_gpu_ns);
  record.correlationId = event.correlation;
  record.contextId = event.context_id;
  record.streamId = event.stream_id;
  record.cudaEventId = event.event_id;
  return bytes_of(record);
}

RecordBytes event_record(const EventMark& mark) {
  CUpti_ActivityCudaEvent3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = mark.correlation;
  record.contextId = mark.context_id;
  record.streamId = mark.stream_id;
  record.eventId = mark.event_id;
  record.deviceId = mark.device;
  return bytes_of(record);
}

RecordBytes device_record(const DeviceFacts& device) {
  CUpti_ActivityDevice6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.globalMemorySize = std::uint64_t{141} << 30U;
  record.numMultiprocessors = 132;
  record.computeCapabilityMajor = 9;
  record.id = device.id;
  record.uuid = device.uuid;
  record.name = strdup(device.name.c_str());  // the client frees it
  record.isCudaVisible = 1;
  return bytes_of(record);
}

RecordBytes context_record(const ContextFacts& context) {
  CUpti_ActivityContext4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  record.contextId = context.id;
  record.deviceId = context.device;
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = static_cast<std::uint16_t>(context.null_stream);
  record.numMultiprocessors = 132;
  record.processId = static_cast<std::uint64_t>(getpid());
  return bytes_of(record);
}

RecordBytes stream_record(const StreamFacts& stream) {
  CUpti_ActivityStream record{};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = stream.context;
  record.streamId = stream.id;
  record.priority = static_cast<std::uint32_t>(stream.priority);
  record.flag =
      stream.is_blocking ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  return bytes_of(record);
}

RecordBytes external_record(CUpti_ExternalCorrelationKind kind, std::uint64_t id, std::uint32_t correlation) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = kind;
  record.externalId = id;
  record.correlationId = correlation;
  return bytes_of(record);
}

RecordBytes buffer_overhead_record(std::int64_t begin_gpu_ns, std::int64_t end_gpu_ns, std::uint32_t thread) {
  CUpti_ActivityOverhead3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.processId = static_cast<std::uint32_t>(getpid());
  record.objectId.pt.threadId = thread;
  record.start = static_cast<std::uint64_t>(begin_gpu_ns);
  record.end = static_cast<std::uint64_t>(end_gpu_ns);
  return bytes_of(record);
}

RecordBytes invented_record() {
  CUpti_Activity record{};
  record.kind = kInventedKind;
  return bytes_of(record);
}

}  // namespace jaxprof::fake_cuda
