#include "agent/nccl/plugin.h"

#include <bit>

#include "agent/collect/event_sink.h"
#include "agent/nccl/communicators.h"
#include "agent/nccl/describe.h"
#include "agent/nccl/recorder.h"

namespace jaxprof::nccl {
namespace {

using spool::NcclEvent;

constexpr int bit_of(NcclEvent event) noexcept {
  return 1 << static_cast<int>(event);
}
constexpr int kCalls = bit_of(NcclEvent::kColl) | bit_of(NcclEvent::kP2p);
constexpr int kApiCalls = bit_of(NcclEvent::kGroupApi) | bit_of(NcclEvent::kCollApi) | bit_of(NcclEvent::kP2pApi) |
                          bit_of(NcclEvent::kKernelLaunch);
static_assert(mask_of(1) == (kCalls | bit_of(NcclEvent::kGroup)) && mask_of(4) == mask_of(1));
static_assert(mask_of(5) == (kCalls | kApiCalls), "Group comes by itself where a child is asked for");
static_assert(mask_of(6) == (kCalls | kApiCalls | bit_of(NcclEvent::kCeColl)) && mask_of(7) == mask_of(6));

int begin(std::uint32_t api, const Identity* identity, void** context, int* mask) noexcept {
  const bool is_wanted = begin_communicator(api, identity, context);
  if (mask != nullptr) *mask = is_wanted ? mask_of(api) : 0;
  return kSuccess;
}

template <std::uint32_t api>
int init_unnamed(void** context, int* mask) noexcept {
  return begin(api, nullptr, context, mask);
}

int init_v4(void** context, int* mask, const char* name, std::uint64_t hash, int node_count, int rank_count, int rank,
            void*) noexcept {
  const Identity identity{hash, name, rank, rank_count, node_count};
  return begin(4, &identity, context, mask);
}

template <std::uint32_t api>
int init_v5(void** context, std::uint64_t hash, int* mask, const char* name, int node_count, int rank_count, int rank,
            void*) noexcept {
  const Identity identity{hash, name, rank, rank_count, node_count};
  return begin(api, &identity, context, mask);
}

int finalize(void* context) noexcept {
  end_communicator(context);
  return kSuccess;
}

// What a call of version 1 to 3 tells of its communicator.
template <typename Descriptor>
void learn(const void* context, const Descriptor& from, NcclEvent event) noexcept {
  if constexpr (requires { from.coll.communicator_hash; }) {
    if (event == NcclEvent::kColl) {
      learn_communicator(Descriptor::kApi, context,
                         {from.coll.communicator_hash, from.coll.communicator_name, from.rank});
    } else if (event == NcclEvent::kP2p) {
      learn_communicator(Descriptor::kApi, context,
                         {from.p2p.communicator_hash, from.p2p.communicator_name, from.rank});
    }
  }
}

template <typename Descriptor>
int start_event(void* context, void** handle, Descriptor* descriptor) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  if (handle == nullptr) return kSuccess;
  // A handle that is left unset keeps the value of the event before.
  *handle = nullptr;
  if (descriptor == nullptr || !std::has_single_bit(descriptor->type) || !is_tracing()) return kSuccess;
  const auto event = static_cast<NcclEvent>(std::countr_zero(descriptor->type));
  learn(context, *descriptor, event);
  *handle = wants(event) ? start_described(context, *descriptor, event, stamp) : start_unrecorded();
  return kSuccess;
}

template <typename Table, typename Descriptor, typename Init>
constexpr Table table_of(Init init) noexcept {
  return {"jaxprof", init, start_event<Descriptor>, stop_event, record_event_state, finalize};
}

}  // namespace
}  // namespace jaxprof::nccl

using namespace jaxprof::nccl;  // NOLINT: the symbols below are NCCL's

constinit const ProfilerV1 ncclProfiler_v1 = table_of<ProfilerV1, DescriptorV1>(init_unnamed<1>);
constinit const ProfilerV2 ncclProfiler_v2 = table_of<ProfilerV2, DescriptorV2>(init_unnamed<2>);
constinit const ProfilerV3 ncclProfiler_v3 = table_of<ProfilerV3, DescriptorV3>(init_unnamed<3>);
constinit const ProfilerV4 ncclProfiler_v4 = table_of<ProfilerV4, DescriptorV4>(init_v4);
constinit const ProfilerV5 ncclProfiler_v5 = table_of<ProfilerV5, DescriptorV5>(init_v5<5>);
constinit const ProfilerV6 ncclProfiler_v6 = table_of<ProfilerV6, DescriptorV6>(init_v5<6>);
constinit const ProfilerV7 ncclProfiler_v7 = table_of<ProfilerV7, DescriptorV7>(init_v5<7>);
