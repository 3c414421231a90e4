// The agent's own declarations of CUPTI, compared with NVIDIA's headers: every number, size and offset that the agent
// relies on. Nearly all of it is decided when this file is compiled.
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>

#include "agent/cupti/api_calls.h"
#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/functions.h"
#include "agent/cupti/record_layout.h"

namespace jaxprof::cupti {
namespace {

template <typename T>
constexpr std::size_t width(Field<T>) {
  return sizeof(T);
}

#define SAME_FIELD(field, type, member) \
  static_assert((field).offset == offsetof(type, member) && width(field) == sizeof(type::member))
#define SAME_NUMBER(mine, theirs) static_assert(static_cast<long>(mine) == static_cast<long>(theirs))
#define SAME_MEMBER(mine, member, theirs, their_member)                     \
  static_assert(offsetof(mine, member) == offsetof(theirs, their_member) && \
                sizeof(mine::member) == sizeof(theirs::their_member))

static_assert(CUPTI_API_VERSION >= 130500, "the newest headers that are known: tests/requirements-cuda.txt");

// ---- numbers
SAME_NUMBER(abi::kSuccess, CUPTI_SUCCESS);
SAME_NUMBER(abi::kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME_NUMBER(abi::kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
SAME_NUMBER(abi::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_NUMBER(abi::kNotCompatible, CUPTI_ERROR_NOT_COMPATIBLE);
SAME_NUMBER(abi::kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME_NUMBER(abi::kQueueEmpty, CUPTI_ERROR_QUEUE_EMPTY);
SAME_NUMBER(abi::kInvalidKind, CUPTI_ERROR_INVALID_KIND);
SAME_NUMBER(abi::kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(abi::kVirtualizedDevice, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(abi::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(abi::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(abi::kVirtualizedPrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(abi::kConfidentialComputing, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME_NUMBER(abi::kMigDevice, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(abi::kWslDevice, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(abi::kUnknown, CUPTI_ERROR_UNKNOWN);

SAME_NUMBER(abi::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_NUMBER(abi::kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_NUMBER(abi::kKernel, CUPTI_ACTIVITY_KIND_KERNEL);
SAME_NUMBER(abi::kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_NUMBER(abi::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_NUMBER(abi::kDevice, CUPTI_ACTIVITY_KIND_DEVICE);
SAME_NUMBER(abi::kContext, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME_NUMBER(abi::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_NUMBER(abi::kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_NUMBER(abi::kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_NUMBER(abi::kCudaEvent, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME_NUMBER(abi::kStream, CUPTI_ACTIVITY_KIND_STREAM);
SAME_NUMBER(abi::kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME_NUMBER(abi::kExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME_NUMBER(abi::kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

SAME_NUMBER(abi::kObjectProcess, CUPTI_ACTIVITY_OBJECT_PROCESS);
SAME_NUMBER(abi::kObjectThread, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME_NUMBER(abi::kObjectDevice, CUPTI_ACTIVITY_OBJECT_DEVICE);
SAME_NUMBER(abi::kObjectContext, CUPTI_ACTIVITY_OBJECT_CONTEXT);
SAME_NUMBER(abi::kObjectStream, CUPTI_ACTIVITY_OBJECT_STREAM);

SAME_NUMBER(abi::kZeroedOutBuffer, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME_NUMBER(abi::kEnableHes, CUPTI_ACTIVITY_ATTR_ENABLE_HES);
SAME_NUMBER(abi::kEventDeviceTimestamps, CUPTI_ACTIVITY_ATTR_ENABLE_CUDA_EVENT_DEVICE_TIMESTAMPS);
SAME_NUMBER(abi::kSharedGraphTrace, CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE);
SAME_NUMBER(abi::kThreadIdType, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
SAME_NUMBER(abi::kThreadIdSystem, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME_NUMBER(abi::kCustom0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
SAME_NUMBER(abi::kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

SAME_NUMBER(abi::kDriverApi, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(abi::kRuntimeApi, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_NUMBER(abi::kResource, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(abi::kState, CUPTI_CB_DOMAIN_STATE);
SAME_NUMBER(abi::kApiEnter, CUPTI_API_ENTER);
SAME_NUMBER(abi::kApiExit, CUPTI_API_EXIT);
SAME_NUMBER(abi::kProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
SAME_NUMBER(abi::kProfilerStop, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
SAME_NUMBER(abi::kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME_NUMBER(abi::kStreamCreated, CUPTI_CBID_RESOURCE_STREAM_CREATED);
SAME_NUMBER(abi::kModuleUnloadStarting, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
SAME_NUMBER(abi::kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_NUMBER(abi::kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME_NUMBER(abi::kFatalError, CUPTI_CBID_STATE_FATAL_ERROR);
SAME_NUMBER(abi::kError, CUPTI_CBID_STATE_ERROR);
SAME_NUMBER(abi::kWarning, CUPTI_CBID_STATE_WARNING);

// ---- what callbacks get, and what subscribing takes
SAME_MEMBER(abi::ApiCallback, site, CUpti_CallbackData, callbackSite);
SAME_MEMBER(abi::ApiCallback, return_value, CUpti_CallbackData, functionReturnValue);
SAME_MEMBER(abi::ResourceData, context, CUpti_ResourceData, context);
SAME_MEMBER(abi::ResourceData, stream, CUpti_ResourceData, resourceHandle);
SAME_MEMBER(abi::ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_MEMBER(abi::GraphData, graph, CUpti_GraphData, graph);
SAME_MEMBER(abi::GraphData, node, CUpti_GraphData, node);
SAME_MEMBER(abi::GraphData, original_node, CUpti_GraphData, originalNode);
SAME_MEMBER(abi::StateData, result, CUpti_StateData, notification.result);
SAME_MEMBER(abi::StateData, message, CUpti_StateData, notification.message);
SAME_MEMBER(abi::SubscriberParams, struct_bytes, CUpti_SubscriberParams, structSize);
SAME_MEMBER(abi::SubscriberParams, name, CUpti_SubscriberParams, subscriberName);
SAME_MEMBER(abi::SubscriberParams, holder, CUpti_SubscriberParams, oldSubscriberName);
SAME_MEMBER(abi::SubscriberParams, holder_bytes, CUpti_SubscriberParams, oldSubscriberSize);
SAME_MEMBER(abi::SubscriberParams, allows_others, CUpti_SubscriberParams, allowMultipleSubscribers);
static_assert(sizeof(abi::SubscriberParams) == CUpti_SubscriberParams_STRUCT_SIZE);
static_assert(abi::kOldSubscriberParamsBytes == offsetof(CUpti_SubscriberParams, allowMultipleSubscribers));
static_assert(abi::kHolderNameBytes == CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);

// ---- records
template <typename Kernel>
constexpr bool is_kernel_layout() {
  using namespace kernel_record;
  SAME_FIELD(kRegisters, Kernel, registersPerThread);
  SAME_FIELD(kStart, Kernel, start);
  SAME_FIELD(kEnd, Kernel, end);
  SAME_FIELD(kDevice, Kernel, deviceId);
  SAME_FIELD(kContext, Kernel, contextId);
  SAME_FIELD(kStream, Kernel, streamId);
  SAME_FIELD(kGrid[0], Kernel, gridX);
  SAME_FIELD(kGrid[1], Kernel, gridY);
  SAME_FIELD(kGrid[2], Kernel, gridZ);
  SAME_FIELD(kBlock[0], Kernel, blockX);
  SAME_FIELD(kBlock[1], Kernel, blockY);
  SAME_FIELD(kBlock[2], Kernel, blockZ);
  SAME_FIELD(kStaticShared, Kernel, staticSharedMemory);
  SAME_FIELD(kDynamicShared, Kernel, dynamicSharedMemory);
  SAME_FIELD(kLocalPerThread, Kernel, localMemoryPerThread);
  SAME_FIELD(kCorrelation, Kernel, correlationId);
  SAME_FIELD(kName, Kernel, name);
  SAME_FIELD(kGraphNode, Kernel, graphNodeId);
  SAME_FIELD(kGraph, Kernel, graphId);
  SAME_FIELD(kChannel, Kernel, channelID);
  SAME_FIELD(kCluster[0], Kernel, clusterX);
  SAME_FIELD(kCluster[1], Kernel, clusterY);
  SAME_FIELD(kCluster[2], Kernel, clusterZ);
  return true;
}
static_assert(is_kernel_layout<CUpti_ActivityKernel9>() && is_kernel_layout<CUpti_ActivityKernel10>() &&
              is_kernel_layout<CUpti_ActivityKernel11>() && is_kernel_layout<CUpti_ActivityKernel12>() &&
              is_kernel_layout<CUpti_ActivityKernel13>());

template <typename Memcpy>
constexpr bool is_memcpy_layout() {
  using namespace memcpy_record;
  SAME_FIELD(kCopyKind, Memcpy, copyKind);
  SAME_FIELD(kSourceKind, Memcpy, srcKind);
  SAME_FIELD(kTargetKind, Memcpy, dstKind);
  SAME_FIELD(kFlags, Memcpy, flags);
  SAME_FIELD(kBytes, Memcpy, bytes);
  SAME_FIELD(kStart, Memcpy, start);
  SAME_FIELD(kEnd, Memcpy, end);
  SAME_FIELD(kDevice, Memcpy, deviceId);
  SAME_FIELD(kContext, Memcpy, contextId);
  SAME_FIELD(kStream, Memcpy, streamId);
  return true;
}
template <typename Memcpy>
constexpr bool is_own_memcpy_layout() {
  using namespace memcpy_record;
  SAME_FIELD(kCorrelation, Memcpy, correlationId);
  SAME_FIELD(kGraphNode, Memcpy, graphNodeId);
  SAME_FIELD(kGraph, Memcpy, graphId);
  return is_memcpy_layout<Memcpy>();
}
static_assert(is_own_memcpy_layout<CUpti_ActivityMemcpy5>() && is_own_memcpy_layout<CUpti_ActivityMemcpy6>() &&
              is_own_memcpy_layout<CUpti_ActivityMemcpy7>());

template <typename Peer>
constexpr bool is_peer_layout() {
  using namespace peer_record;
  SAME_FIELD(kSourceDevice, Peer, srcDeviceId);
  SAME_FIELD(kTargetDevice, Peer, dstDeviceId);
  SAME_FIELD(kCorrelation, Peer, correlationId);
  SAME_FIELD(kGraphNode, Peer, graphNodeId);
  SAME_FIELD(kGraph, Peer, graphId);
  return is_memcpy_layout<Peer>();  // what comes before is the same
}
static_assert(is_peer_layout<CUpti_ActivityMemcpyPtoP4>());

template <typename Memset>
constexpr bool is_memset_layout() {
  using namespace memset_record;
  SAME_FIELD(kValue, Memset, value);
  SAME_FIELD(kBytes, Memset, bytes);
  SAME_FIELD(kStart, Memset, start);
  SAME_FIELD(kEnd, Memset, end);
  SAME_FIELD(kDevice, Memset, deviceId);
  SAME_FIELD(kContext, Memset, contextId);
  SAME_FIELD(kStream, Memset, streamId);
  SAME_FIELD(kCorrelation, Memset, correlationId);
  SAME_FIELD(kFlags, Memset, flags);
  SAME_FIELD(kMemoryKind, Memset, memoryKind);
  SAME_FIELD(kGraphNode, Memset, graphNodeId);
  SAME_FIELD(kGraph, Memset, graphId);
  return true;
}
static_assert(is_memset_layout<CUpti_ActivityMemset4>() && is_memset_layout<CUpti_ActivityMemset5>());

SAME_FIELD(kRecordKind, CUpti_Activity, kind);

namespace api_witness {
using namespace api_record;
SAME_FIELD(kCallback, CUpti_ActivityAPI, cbid);
SAME_FIELD(kStart, CUpti_ActivityAPI, start);
SAME_FIELD(kEnd, CUpti_ActivityAPI, end);
SAME_FIELD(kThread, CUpti_ActivityAPI, threadId);
SAME_FIELD(kCorrelation, CUpti_ActivityAPI, correlationId);
SAME_FIELD(kReturnValue, CUpti_ActivityAPI, returnValue);
}  // namespace api_witness

namespace overhead_witness {
using namespace overhead_record;
SAME_FIELD(kOverheadKind, CUpti_ActivityOverhead3, overheadKind);
SAME_FIELD(kObjectKind, CUpti_ActivityOverhead3, objectKind);
SAME_FIELD(kThread, CUpti_ActivityOverhead3, objectId.pt.threadId);
SAME_FIELD(kContext, CUpti_ActivityOverhead3, objectId.dcs.contextId);
SAME_FIELD(kStream, CUpti_ActivityOverhead3, objectId.dcs.streamId);
SAME_FIELD(kStart, CUpti_ActivityOverhead3, start);
SAME_FIELD(kEnd, CUpti_ActivityOverhead3, end);
SAME_FIELD(kCorrelation, CUpti_ActivityOverhead3, correlationId);
}  // namespace overhead_witness

namespace graph_witness {
using namespace graph_record;
SAME_FIELD(kCorrelation, CUpti_ActivityGraphTrace2, correlationId);
SAME_FIELD(kStart, CUpti_ActivityGraphTrace2, start);
SAME_FIELD(kEnd, CUpti_ActivityGraphTrace2, end);
SAME_FIELD(kDevice, CUpti_ActivityGraphTrace2, deviceId);
SAME_FIELD(kGraph, CUpti_ActivityGraphTrace2, graphId);
SAME_FIELD(kContext, CUpti_ActivityGraphTrace2, contextId);
SAME_FIELD(kStream, CUpti_ActivityGraphTrace2, streamId);
}  // namespace graph_witness

namespace synchronization_witness {
using namespace synchronization_record;
SAME_FIELD(kType, CUpti_ActivitySynchronization2, type);
SAME_FIELD(kStart, CUpti_ActivitySynchronization2, start);
SAME_FIELD(kEnd, CUpti_ActivitySynchronization2, end);
SAME_FIELD(kCorrelation, CUpti_ActivitySynchronization2, correlationId);
SAME_FIELD(kContext, CUpti_ActivitySynchronization2, contextId);
SAME_FIELD(kStream, CUpti_ActivitySynchronization2, streamId);
SAME_FIELD(kEvent, CUpti_ActivitySynchronization2, cudaEventId);
}  // namespace synchronization_witness

namespace event_witness {
using namespace event_record;
SAME_FIELD(kContext, CUpti_ActivityCudaEvent3, contextId);
SAME_FIELD(kStream, CUpti_ActivityCudaEvent3, streamId);
SAME_FIELD(kEvent, CUpti_ActivityCudaEvent3, eventId);
SAME_FIELD(kDeviceTimestamp, CUpti_ActivityCudaEvent3, deviceTimestamp);
}  // namespace event_witness

namespace external_witness {
using namespace external_record;
SAME_FIELD(kExternalKind, CUpti_ActivityExternalCorrelation, externalKind);
SAME_FIELD(kExternalId, CUpti_ActivityExternalCorrelation, externalId);
SAME_FIELD(kCorrelation, CUpti_ActivityExternalCorrelation, correlationId);
}  // namespace external_witness

template <typename Device>
constexpr bool is_device_layout() {
  using namespace device_record;
  SAME_FIELD(kMemoryBytes, Device, globalMemorySize);
  SAME_FIELD(kProcessors, Device, numMultiprocessors);
  SAME_FIELD(kCapabilityMajor, Device, computeCapabilityMajor);
  SAME_FIELD(kCapabilityMinor, Device, computeCapabilityMinor);
  SAME_FIELD(kDevice, Device, id);
  SAME_FIELD(kUuid, Device, uuid);
  SAME_FIELD(kName, Device, name);
  return true;
}
static_assert(is_device_layout<CUpti_ActivityDevice4>() && is_device_layout<CUpti_ActivityDevice5>() &&
              is_device_layout<CUpti_ActivityDevice6>());

namespace context_witness {
using namespace context_record;
SAME_FIELD(kContext, CUpti_ActivityContext4, contextId);
SAME_FIELD(kDevice, CUpti_ActivityContext4, deviceId);
SAME_FIELD(kNullStream, CUpti_ActivityContext4, nullStreamId);
}  // namespace context_witness

namespace stream_witness {
using namespace stream_record;
SAME_FIELD(kContext, CUpti_ActivityStream, contextId);
SAME_FIELD(kStream, CUpti_ActivityStream, streamId);
}  // namespace stream_witness

// ---- functions: the same number and kinds of arguments, as far as C++ can tell without the names of their types
template <typename>
inline constexpr int kArguments = -1;
template <typename R, typename... A>
inline constexpr int kArguments<R (*)(A...)> = sizeof...(A);
#define SAME_ARGUMENTS(member, function) \
  static_assert(kArguments<decltype(Functions::member)> == kArguments<decltype(&function)>)
SAME_ARGUMENTS(subscribe, cuptiSubscribe);
SAME_ARGUMENTS(subscribe_named, cuptiSubscribe_v2);
SAME_ARGUMENTS(unsubscribe, cuptiUnsubscribe);
SAME_ARGUMENTS(enable_callback, cuptiEnableCallback);
SAME_ARGUMENTS(register_callbacks, cuptiActivityRegisterCallbacks);
SAME_ARGUMENTS(get_next_record, cuptiActivityGetNextRecord);
SAME_ARGUMENTS(get_dropped, cuptiActivityGetNumDroppedRecords);
SAME_ARGUMENTS(set_attribute, cuptiActivitySetAttribute);
SAME_ARGUMENTS(enable_driver_api, cuptiActivityEnableDriverApi);
SAME_ARGUMENTS(push_external, cuptiActivityPushExternalCorrelationId);
SAME_ARGUMENTS(pop_external, cuptiActivityPopExternalCorrelationId);
SAME_ARGUMENTS(get_stream_id, cuptiGetStreamIdEx);
SAME_ARGUMENTS(get_graph_node_id, cuptiGetGraphNodeId);
SAME_ARGUMENTS(enable_shared, cuptiActivityEnable_v2);
SAME_ARGUMENTS(disable_shared, cuptiActivityDisable_v2);
SAME_ARGUMENTS(enable_and_dump_shared, cuptiActivityEnableAndDump_v2);
SAME_ARGUMENTS(register_callbacks_shared, cuptiActivityRegisterCallbacks_v2);
SAME_ARGUMENTS(get_next_record_shared, cuptiActivityGetNextRecord_v2);
SAME_ARGUMENTS(get_dropped_shared, cuptiActivityGetNumDroppedRecords_v2);
SAME_ARGUMENTS(set_attribute_shared, cuptiActivitySetAttribute_v2);
SAME_ARGUMENTS(get_timestamp_shared, cuptiGetTimestamp_v2);
SAME_ARGUMENTS(push_external_shared, cuptiActivityPushExternalCorrelationId_v2);
SAME_ARGUMENTS(pop_external_shared, cuptiActivityPopExternalCorrelationId_v2);
static_assert(kArguments<CUpti_BuffersCallbackRequestFunc> == kArguments<abi::RequestBuffer>);
static_assert(kArguments<CUpti_BuffersCallbackCompleteFunc> == kArguments<abi::CompleteBuffer>);
static_assert(kArguments<CUpti_BuffersCallbackRequestFunc_v2> == kArguments<abi::RequestBufferShared>);
static_assert(kArguments<CUpti_BuffersCallbackCompleteFunc_v2> == kArguments<abi::CompleteBufferShared>);

// ---- calls, by the names that NVIDIA gives them
#define WORK(name) \
  { CUPTI_DRIVER_TRACE_CBID_##name, #name }
struct NamedCall {
  std::uint32_t id;
  const char* name;
};

TEST(ApiSet, RecordsLaunchesCopiesMemsetsAndGraphLaunchesAsCallsThatStartWork) {
  ApiSet driver;
  driver.fill(abi::kDriverApi);
  for (const NamedCall call :
       {NamedCall WORK(cuLaunchKernel), NamedCall WORK(cuLaunchKernel_ptsz), NamedCall WORK(cuLaunchKernelEx),
        NamedCall WORK(cuLaunchKernelEx_ptsz), NamedCall WORK(cuLaunchCooperativeKernel), NamedCall WORK(cuGraphLaunch),
        NamedCall WORK(cuGraphLaunch_ptsz), NamedCall WORK(cuMemcpyAsync), NamedCall WORK(cuMemcpyHtoDAsync_v2),
        NamedCall WORK(cuMemcpyPeerAsync), NamedCall WORK(cuMemcpyBatchAsync_v2), NamedCall WORK(cuMemsetD8Async),
        NamedCall WORK(cuMemsetD32_v2)}) {
    EXPECT_TRUE(driver.is_recorded(call.id)) << call.name;
    EXPECT_TRUE(driver.starts_work(call.id)) << call.name;
  }
  ApiSet runtime;
  runtime.fill(abi::kRuntimeApi);
  for (const std::uint32_t id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v13000}) {
    EXPECT_TRUE(runtime.starts_work(id)) << id;
  }
}

TEST(ApiSet, RecordsWaitsAndGraphInstantiationAsCallsThatStartNone) {
  ApiSet driver;
  driver.fill(abi::kDriverApi);
  for (const NamedCall call : {NamedCall WORK(cuCtxSynchronize), NamedCall WORK(cuStreamSynchronize),
                               NamedCall WORK(cuEventSynchronize), NamedCall WORK(cuStreamWaitEvent),
                               NamedCall WORK(cuGraphInstantiateWithFlags), NamedCall WORK(cuLaunchHostFunc)}) {
    EXPECT_TRUE(driver.is_recorded(call.id)) << call.name;
    EXPECT_FALSE(driver.starts_work(call.id)) << call.name;
  }
}

TEST(ApiSet, LeavesOutQueriesAndBookkeeping) {
  ApiSet driver;
  driver.fill(abi::kDriverApi);
  for (const NamedCall call :
       {NamedCall WORK(cuCtxGetCurrent), NamedCall WORK(cuPointerGetAttribute), NamedCall WORK(cuEventRecord),
        NamedCall WORK(cuEventQuery), NamedCall WORK(cuMemAlloc_v2), NamedCall WORK(cuProfilerStart),
        NamedCall WORK(cuKernelGetAttribute), NamedCall WORK(cuStreamIsCapturing),
        NamedCall WORK(cuStreamBeginCapture_v2), NamedCall WORK(cuGraphAddKernelNode),
        NamedCall WORK(cuGraphExecMemcpyNodeSetParams)}) {
    EXPECT_FALSE(driver.is_recorded(call.id)) << call.name;
  }
}
#undef WORK

}  // namespace
}  // namespace jaxprof::cupti
