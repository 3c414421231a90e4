#include "agent/cupti/resource_records.h"

#include "agent/collect/event_sink.h"
#include "agent/cupti/cupti_abi.h"

namespace jaxprof::cupti {

// False also where too many are known: nothing is lost but a repetition's being one.
bool ResourceRecords::is_first(const Key& key) noexcept {
  bool is_new = false;
  seen_.number_of(key, &is_new);
  return is_new;
}

// CUPTI leaves the name to its client, who may free it; it is a few bytes a device, and freeing memory of another
// library's heap is not worth them.
void ResourceRecords::add_device(const Record& record) noexcept {
  using namespace device_record;
  const std::uint32_t device = record.get(kDevice);
  if (!record.has(kDevice) || !is_first({abi::kDevice, device, 0})) return;
  spool::GpuDeviceState state{};
  state.device = device;
  state.name = collect::intern(record.get(kName));
  const device_record::Uuid uuid = record.get(kUuid);
  std::memcpy(state.uuid, uuid.bytes, sizeof state.uuid);
  state.capability = record.get(kCapabilityMajor) * 10 + record.get(kCapabilityMinor);
  state.processors = record.get(kProcessors);
  state.memory_bytes = record.get(kMemoryBytes);
  collect::append_state(spool::StateKind::kGpuDevice, &state, sizeof state);
}

void ResourceRecords::add_context(const Record& record) noexcept {
  using namespace context_record;
  const std::uint32_t context = record.get(kContext);
  const std::uint32_t device = record.get(kDevice);
  if (!is_first({abi::kContext, context, device})) return;
  spool::GpuContextState state{};
  state.context = context;
  state.device = device;
  collect::append_state(spool::StateKind::kGpuContext, &state, sizeof state);
  // The default stream, which programs and NCCL know as address 0.
  spool::GpuStreamState stream{};
  stream.context = context;
  stream.stream = record.get(kNullStream);
  collect::append_state(spool::StateKind::kGpuStream, &stream, sizeof stream);
}

}  // namespace jaxprof::cupti
