#include "tests/puppets/nvtx_schemas.h"

#include <array>

namespace jaxprof::puppets::nvtx_payload {
namespace {

constexpr std::uint64_t kStaticIds = 1U << 24U;
constexpr std::uint64_t kReductionEnum = kStaticIds + 20;  // 2.28.9's number; it differs between releases

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t result{};
  result.type = type;
  result.name = name;
  result.offset = offset;
  return result;
}
nvtxPayloadSchemaEntry_t int_entry(const char* name, std::size_t offset) {
  return entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, name, offset);
}
nvtxPayloadSchemaEntry_t operation_entry(std::size_t offset) {
  return entry(kReductionEnum, "Reduction operation", offset);
}
nvtxPayloadSchemaEntry_t comm_entry() {
  return entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0);
}

// Communicator and size come first in every call's payload.
template <typename Payload>
Schema call(std::uint64_t number, std::vector<nvtxPayloadSchemaEntry_t> more = {}) {
  Schema schema{kStaticIds + number, sizeof(Payload), {comm_entry()}};
  schema.entries.push_back(entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", offsetof(Collective, bytes)));
  schema.entries.insert(schema.entries.end(), more.begin(), more.end());
  return schema;
}

Schema comm(std::uint64_t number) {
  return {kStaticIds + number,
          sizeof(Comm),
          {comm_entry(), int_entry("No. of ranks", offsetof(Comm, n_ranks)), int_entry("Rank", offsetof(Comm, rank)),
           int_entry("CUDA device", offsetof(Comm, device))}};
}

}  // namespace

Schema call_schema(Function function) {
  const auto root = int_entry("Root", offsetof(Rooted, root));
  const auto peer = int_entry("Peer rank", offsetof(Rooted, root));
  const auto operation = operation_entry(offsetof(Reduction, operation));
  switch (function) {
    case Function::kAllGather:
      return call<Collective>(4);
    case Function::kAllReduce:
      return call<Reduction>(5, {operation});
    case Function::kBroadcast:
      return call<Rooted>(6, {root});
    case Function::kReduceScatter:
      return call<Reduction>(7, {operation});
    case Function::kReduce:
      return call<Reduce>(8, {root, operation_entry(offsetof(Reduce, operation))});
    case Function::kSend:
      return call<Rooted>(9, {peer});
    case Function::kRecv:
      return call<Rooted>(10, {peer});
    case Function::kAlltoAll:
      return call<Collective>(16);
    case Function::kGather:
      return call<Rooted>(17, {root});
    case Function::kScatter:
      break;
  }
  return call<Rooted>(18, {root});
}

Schema comm_init_schema() {
  return comm(0);
}
Schema comm_destroy_schema() {
  return comm(2);
}
Schema comm_split_schema() {
  return {kStaticIds + 13,
          sizeof(Split),
          {comm_entry(), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "Parent NCCL communicator ID", offsetof(Split, parent)),
           int_entry("No. of ranks", offsetof(Split, n_ranks)), int_entry("Rank", offsetof(Split, rank)),
           int_entry("CUDA device", offsetof(Split, device)), int_entry("Color", offsetof(Split, color)),
           int_entry("Key", offsetof(Split, key))}};
}

void register_schema(nvtxDomainHandle_t domain, const Schema& schema) {
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = schema.entries.data();
  attributes.numEntries = schema.entries.size();
  attributes.payloadStaticSize = schema.size_bytes;
  attributes.schemaId = schema.id;
  nvtxPayloadSchemaRegister(domain, &attributes);
}

void register_reductions(nvtxDomainHandle_t domain) {
  std::array<nvtxPayloadEnum_t, kReductions.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {kReductions[i].name, static_cast<std::uint64_t>(kReductions[i].value), 0};
  }
  nvtxPayloadEnumAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  attributes.entries = values.data();
  attributes.numEntries = values.size();
  attributes.sizeOfEnum = sizeof(int);
  attributes.schemaId = kReductionEnum;
  nvtxPayloadEnumRegister(domain, &attributes);
}

}  // namespace jaxprof::puppets::nvtx_payload
