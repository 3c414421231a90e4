#include "tests/synthetic/nccl_schemas.h"

#include <cstddef>
#include <vector>

namespace jaxprof::synthetic {
namespace {

// NVTX_PAYLOAD_ENTRY_TYPE_* and NVTX_PAYLOAD_SCHEMA_TYPE_STATIC of nvToolsExtPayload.h.
constexpr std::uint64_t kInt32 = 15;
constexpr std::uint64_t kUint64 = 18;
constexpr std::uint64_t kStatic = 1;

struct Entry {
  const char* name;
  std::uint64_t type;
  std::size_t offset;
};

void register_schema(std::uint64_t id, std::size_t bytes, const std::vector<Entry>& entries, SpoolFile* spool) {
  std::vector<spool::SchemaEntry> tail;
  for (const Entry& entry : entries) {
    tail.push_back({0, entry.type, 0, entry.offset, spool->string(entry.name), 0});
  }
  spool::SchemaState schema{};
  schema.domain = kNcclDomain;
  schema.entry_count = static_cast<std::uint32_t>(tail.size());
  schema.schema = id;
  schema.type = kStatic;
  schema.payload_bytes = bytes;
  spool->state(spool::StateKind::kSchema, schema,
               {reinterpret_cast<const char*>(tail.data()), tail.size() * sizeof tail.front()});
}

}  // namespace

void register_nccl_domain(SpoolFile* spool) {
  spool::DomainState domain{};
  domain.domain = kNcclDomain;
  domain.name = spool->string("NCCL");
  spool->state(spool::StateKind::kDomain, domain);

  constexpr const char* kReductions[] = {"Sum", "Product", "Max", "Min", "Avg"};
  std::vector<spool::EnumEntry> reductions;
  for (std::uint64_t i = 0; i < std::size(kReductions); ++i)
    reductions.push_back({i, spool->string(kReductions[i]), 0});
  spool::EnumState enumeration{};
  enumeration.domain = kNcclDomain;
  enumeration.entry_count = static_cast<std::uint32_t>(reductions.size());
  enumeration.schema = kReductionEnum;
  enumeration.value_bytes = sizeof(std::int32_t);
  spool->state(spool::StateKind::kEnum, enumeration,
               {reinterpret_cast<const char*>(reductions.data()), reductions.size() * sizeof reductions.front()});

  const Entry comm{"NCCL communicator ID", kUint64, 0};
  const Entry bytes{"Message size [bytes]", kUint64, offsetof(CallPayload, bytes)};
  const auto number = [](const char* name, std::uint64_t type) {
    return Entry{name, type, offsetof(CallPayload, number)};
  };
  constexpr std::size_t kCallBytes = sizeof(CallPayload);
  register_schema(kGatherSchema, offsetof(CallPayload, number), {comm, bytes}, spool);
  register_schema(kAllReduceSchema, kCallBytes, {comm, bytes, number("Reduction operation", kReductionEnum)}, spool);
  register_schema(kReduceScatterSchema, kCallBytes, {comm, bytes, number("Reduction operation", kReductionEnum)},
                  spool);
  register_schema(kBroadcastSchema, kCallBytes, {comm, bytes, number("Root", kInt32)}, spool);
  register_schema(kSendSchema, kCallBytes, {comm, bytes, number("Peer rank", kInt32)}, spool);
  register_schema(kRecvSchema, kCallBytes, {comm, bytes, number("Peer rank", kInt32)}, spool);
  register_schema(kInitSchema, sizeof(InitPayload),
                  {comm,
                   {"No. of ranks", kInt32, offsetof(InitPayload, rank_count)},
                   {"Rank", kInt32, offsetof(InitPayload, rank)},
                   {"CUDA device", kInt32, offsetof(InitPayload, device)}},
                  spool);
}

}  // namespace jaxprof::synthetic
