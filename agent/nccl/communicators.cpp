#include "agent/nccl/communicators.h"

#include "agent/collect/event_sink.h"
#include "agent/nccl/handle.h"

namespace jaxprof::nccl {

std::atomic<std::uint16_t> detail::nonce{0};
std::atomic<std::uint32_t> detail::communicator_count{0};

namespace {

// A bit a communicator of versions 1 to 3: is it registered? One beyond the last stays unregistered, and its events'
// communicator unknown.
constexpr std::uint32_t kMaxLearned = 1U << 16;
std::atomic<std::uint64_t> learned[kMaxLearned / 64];

void register_communicator(std::uint32_t number, std::uint32_t api, const Identity& identity) noexcept {
  spool::CommunicatorState state{};
  state.communicator = number;
  state.api = api;
  state.hash = identity.hash;
  state.rank = identity.rank;
  state.rank_count = identity.rank_count;
  state.node_count = identity.node_count;
  state.name = collect::intern(identity.name);
  state.stamp = collect::read_stamp();
  collect::append_state(spool::StateKind::kCommunicator, &state, sizeof state);
}

}  // namespace

bool begin_communicator(std::uint32_t api, const Identity* identity, void** context) noexcept {
  if (context != nullptr) *context = nullptr;
  if (!collect::attach(kHookNccl, api) || (collect::session_plan().trace & kTraceNccl) == 0) return false;
  const std::uint32_t number = detail::communicator_count.fetch_add(1, std::memory_order_relaxed) + 1;
  ProcessSlot* slot = collect::process_slot();
  slot->nccl_api.store(api, std::memory_order_relaxed);
  slot->nccl_communicators.store(number, std::memory_order_relaxed);
  if (identity != nullptr) register_communicator(number, api, *identity);
  if (context != nullptr) *context = make_handle(collect::process_nonce(), number);
  detail::nonce.store(collect::process_nonce(), std::memory_order_relaxed);
  return true;
}

void end_communicator(const void* context) noexcept {
  const std::uint32_t number = communicator_number(context);
  if (number == 0) return;
  spool::CommunicatorEndState state{};
  state.communicator = number;
  state.stamp = collect::read_stamp();
  collect::append_state(spool::StateKind::kCommunicatorEnd, &state, sizeof state);
}

void learn_communicator(std::uint32_t api, const void* context, const Identity& identity) noexcept {
  const std::uint32_t number = communicator_number(context);
  if (number == 0 || number >= kMaxLearned) return;
  std::atomic<std::uint64_t>& word = learned[number / 64];
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
  if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) register_communicator(number, api, identity);
}

}  // namespace jaxprof::nccl
