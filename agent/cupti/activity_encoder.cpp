#include "agent/cupti/activity_encoder.h"

#include "agent/collect/event_sink.h"
#include "agent/spool/varint.h"

namespace jaxprof::cupti {

using spool::EventKind;

bool ActivityEncoder::open(CallbackName names, const KeptSpans* spans) noexcept {
  callback_name_ = names;
  spans_ = spans;
  driver_.fill(abi::kDriverApi);
  runtime_.fill(abi::kRuntimeApi);
  return names_.open() && lanes_.open() && configs_.open() && resources_.open();
}

bool ActivityEncoder::add_any(std::uint32_t kind, const Record& record, spool::EventEncoder* out) noexcept {
  switch (kind) {
    case abi::kConcurrentKernel:
    case abi::kKernel:
      return add_kernel(record, out);
    case abi::kDriver:
      return add_api(record, false, out);
    case abi::kRuntime:
      return add_api(record, true, out);
    case abi::kMemcpy:
      return add_memcpy(record, false, out);
    case abi::kMemcpyPeer:
      return add_memcpy(record, true, out);
    case abi::kMemset:
      return add_memset(record, out);
    case abi::kExternalCorrelation:
      return add_external(record, out);
    case abi::kOverhead:
      return add_overhead(record, out);
    case abi::kGraphTrace:
      return add_graph(record, out);
    case abi::kSynchronization:
      return add_synchronization(record, out);
    case abi::kCudaEvent:
      return add_event(record, out);
    case abi::kDevice:
      resources_.add_device(record);
      return false;
    case abi::kContext:
      resources_.add_context(record);
      return false;
    case abi::kStream:
      return false;  // its address comes with its creation, its lane with its first work
    default:
      collect::count_drop(Drop::kGpuUnknownKind);
      return false;
  }
}

void ActivityEncoder::note_call(std::uint32_t kind, const Record& record) noexcept {
  using namespace api_record;
  if (kind != abi::kDriver && kind != abi::kRuntime) return;
  const ApiSet& set = kind == abi::kRuntime ? runtime_ : driver_;
  const std::uint64_t start_ns = record.get(kStart);
  const std::uint64_t end_ns = record.get(kEnd);
  if (spans_->keeps(start_ns, end_ns) && starts_work(record, set, start_ns, end_ns))
    ledger_.add_call(record.get(kCorrelation));
}

bool ActivityEncoder::starts_work(const Record& call, const ApiSet& set, std::uint64_t start_ns,
                                  std::uint64_t end_ns) const noexcept {
  using namespace api_record;
  return call.get(kReturnValue) == 0 && set.starts_work(call.get(kCallback)) &&
         !captured_.has_node(call.get(kThread), start_ns, end_ns);
}

bool ActivityEncoder::add_memcpy(const Record& record, bool is_peer, spool::EventEncoder* out) noexcept {
  using namespace memcpy_record;
  Times times;
  const std::uint32_t correlation = record.get(is_peer ? peer_record::kCorrelation : kCorrelation);
  const std::uint32_t graph = record.get(is_peer ? peer_record::kGraph : kGraph);
  ledger_.add_work(correlation);
  graph_launches_.add_work(graph, correlation);
  if (!take_times(record, kStart, kEnd, &times, correlation)) return false;
  const std::uint32_t device = record.get(kDevice);
  std::uint64_t peer = 0;
  if (is_peer) {
    const std::uint32_t source = record.get(peer_record::kSourceDevice);
    peer = 1 + (source != device ? source : record.get(peer_record::kTargetDevice));
  }
  const std::uint64_t fields[] = {folded_duration(times.start_ns, times.end_ns),
                                  lanes_.number_of(device, record.get(kContext), record.get(kStream)).value(),
                                  correlation,
                                  record.get(kBytes),
                                  record.get(is_peer ? peer_record::kGraphNode : kGraphNode),
                                  graph,
                                  peer};
  const std::uint32_t id = record.get(kCopyKind) | static_cast<std::uint32_t>(record.get(kSourceKind)) << 8 |
                           static_cast<std::uint32_t>(record.get(kTargetKind)) << 16 |
                           static_cast<std::uint32_t>(record.get(kFlags)) << 24;
  out->add(EventKind::kGpuMemcpy, id, times.start_ns, fields);
  return true;
}

bool ActivityEncoder::add_memset(const Record& record, spool::EventEncoder* out) noexcept {
  using namespace memset_record;
  Times times;
  const std::uint32_t correlation = record.get(kCorrelation);
  const std::uint32_t graph = record.get(kGraph);
  ledger_.add_work(correlation);
  graph_launches_.add_work(graph, correlation);
  if (!take_times(record, kStart, kEnd, &times, correlation)) return false;
  const std::uint64_t fields[] = {
      folded_duration(times.start_ns, times.end_ns),
      lanes_.number_of(record.get(kDevice), record.get(kContext), record.get(kStream)).value(),
      correlation,
      record.get(kBytes),
      record.get(kValue),
      record.get(kGraphNode),
      graph};
  const std::uint32_t id = record.get(kMemoryKind) | static_cast<std::uint32_t>(record.get(kFlags)) << 16;
  out->add(EventKind::kGpuMemset, id, times.start_ns, fields);
  return true;
}

bool ActivityEncoder::add_graph(const Record& record, spool::EventEncoder* out) noexcept {
  using namespace graph_record;
  Times times;
  const std::uint32_t correlation = record.get(kCorrelation);
  ledger_.add_work(correlation);
  if (!take_times(record, kStart, kEnd, &times, correlation)) return false;
  const std::uint64_t fields[] = {
      folded_duration(times.start_ns, times.end_ns),
      lanes_.number_of(record.get(kDevice), record.get(kContext), record.get(kStream)).value(), correlation};
  out->add(EventKind::kGpuGraph, record.get(kGraph), times.start_ns, fields);
  return true;
}

void ActivityEncoder::name_api(std::uint32_t id, bool is_runtime) noexcept {
  const char* name = nullptr;
  if (callback_name_(is_runtime ? abi::kRuntimeApi : abi::kDriverApi, id, &name) != abi::kSuccess) name = nullptr;
  spool::GpuApiState state{};
  state.api = id | (is_runtime ? spool::gpu_field::kRuntimeApi : 0);
  state.name = collect::intern(name);
  collect::append_state(spool::StateKind::kGpuApi, &state, sizeof state);
}

bool ActivityEncoder::add_api(const Record& record, bool is_runtime, spool::EventEncoder* out) noexcept {
  using namespace api_record;
  const std::uint32_t id = record.get(kCallback);
  ApiSet& set = is_runtime ? runtime_ : driver_;
  // Where CUPTI cannot choose among calls, it records all of them.
  if (!set.is_recorded(id)) return false;
  Times times;
  const std::uint32_t correlation = record.get(kCorrelation);
  const std::uint32_t result = record.get(kReturnValue);
  if (!take_times(record, kStart, kEnd, &times)) return false;
  if (starts_work(record, set, times.start_ns, times.end_ns)) ledger_.add_call(correlation);
  if (set.is_first(id)) name_api(id, is_runtime);
  const std::uint64_t fields[] = {folded_duration(times.start_ns, times.end_ns), record.get(kThread), correlation,
                                  result};
  out->add(EventKind::kGpuApi, id | (is_runtime ? spool::gpu_field::kRuntimeApi : 0), times.start_ns, fields);
  return true;
}

bool ActivityEncoder::add_overhead(const Record& record, spool::EventEncoder* out) noexcept {
  using namespace overhead_record;
  Times times;
  if (!take_times(record, kStart, kEnd, &times)) return false;
  const std::uint32_t object_kind = record.get(kObjectKind);
  std::uint64_t object = 0;
  if (object_kind == abi::kObjectProcess || object_kind == abi::kObjectThread) object = record.get(kThread);
  if (object_kind == abi::kObjectContext) object = record.get(kContext);
  if (object_kind == abi::kObjectStream) object = record.get(kStream);
  const std::uint64_t fields[] = {folded_duration(times.start_ns, times.end_ns), object, record.get(kCorrelation),
                                  object_kind};
  out->add(EventKind::kGpuOverhead, record.get(kOverheadKind), times.start_ns, fields);
  return true;
}

bool ActivityEncoder::add_synchronization(const Record& record, spool::EventEncoder* out) noexcept {
  using namespace synchronization_record;
  Times times;
  if (!take_times(record, kStart, kEnd, &times)) return false;
  const std::uint64_t fields[] = {folded_duration(times.start_ns, times.end_ns), record.get(kContext),
                                  record.get(kCorrelation), record.get(kStream), record.get(kEvent)};
  out->add(EventKind::kGpuSynchronization, record.get(kType), times.start_ns, fields);
  return true;
}

// A recorded event has one time, if CUPTI was asked for it and could tell.
bool ActivityEncoder::add_event(const Record& record, spool::EventEncoder* out) noexcept {
  using namespace event_record;
  const std::uint64_t stamp_ns = record.get(kDeviceTimestamp);
  if (!spans_->keeps(stamp_ns, stamp_ns)) return false;
  const std::uint64_t fields[] = {record.get(kContext), record.get(kStream)};
  out->add(EventKind::kGpuEvent, record.get(kEvent), stamp_ns, fields);
  return true;
}

bool ActivityEncoder::add_external(const Record& record, spool::EventEncoder* out) noexcept {
  using namespace external_record;
  if (record.get(kExternalKind) != abi::kCustom0) return false;  // of the program's own profiler
  const std::uint64_t fields[] = {record.get(kExternalId), record.get(kCorrelation)};
  out->add_like_previous(EventKind::kGpuExternal, 0, fields);
  return true;
}

}  // namespace jaxprof::cupti
