#include "tests/puppets/nvtx_schemas.h"

#include <array>

namespace jaxprof::puppets::nvtx_payload {
namespace {

constexpr std::uint64_t kStaticIds = 1U << 24U;
constexpr std::uint64_t kReductionEnum = kStaticIds + 20;     // 2.28.9's number; it differs between releases
constexpr std::uint64_t kOldReductionEnum = kStaticIds + 14;  // 2.23's and 2.24's

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

Schema nameless_comm(std::uint64_t number) {
  return {kStaticIds + number,
          sizeof(nameless::Comm),
          {int_entry("Rank", 0), int_entry("No. of ranks", offsetof(nameless::Comm, n_ranks)),
           int_entry("CUDA device", offsetof(nameless::Comm, device))}};
}

// NCCL 2.24 has no AlltoAll, Gather and Scatter.
Schema nameless_call_schema(Function function) {
  const auto bytes = entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", 0);
  const auto root = int_entry("Root", offsetof(nameless::Rooted, root));
  const auto peer = int_entry("Peer rank", offsetof(nameless::Rooted, root));
  const auto operation = [](std::size_t offset) { return entry(kOldReductionEnum, "Reduction operation", offset); };
  const auto reduction = operation(offsetof(nameless::Reduction, operation));
  switch (function) {
    case Function::kAllReduce:
      return {kStaticIds + 5, sizeof(nameless::Reduction), {bytes, reduction}};
    case Function::kReduceScatter:
      return {kStaticIds + 7, sizeof(nameless::Reduction), {bytes, reduction}};
    case Function::kBroadcast:
      return {kStaticIds + 6, sizeof(nameless::Rooted), {bytes, root}};
    case Function::kReduce:
      return {
          kStaticIds + 8, sizeof(nameless::Reduce), {bytes, root, operation(offsetof(nameless::Reduce, operation))}};
    case Function::kSend:
      return {kStaticIds + 9, sizeof(nameless::Rooted), {bytes, peer}};
    case Function::kRecv:
      return {kStaticIds + 10, sizeof(nameless::Rooted), {bytes, peer}};
    default:
      return {kStaticIds + 4, sizeof(nameless::Collective), {bytes}};
  }
}

}  // namespace

Schema call_schema(Function function, bool has_comms) {
  if (!has_comms) {
    return nameless_call_schema(function);
  }
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

Schema comm_init_schema(bool has_comms) {
  return has_comms ? comm(0) : nameless_comm(0);
}
Schema comm_destroy_schema(bool has_comms) {
  return has_comms ? comm(2) : nameless_comm(2);
}
Schema comm_split_schema(bool has_comms) {
  if (!has_comms) {
    return {kStaticIds + 13,
            sizeof(nameless::Split),
            {int_entry("Rank", 0), int_entry("No. of ranks", offsetof(nameless::Split, n_ranks)),
             int_entry("CUDA device", offsetof(nameless::Split, device)),
             int_entry("Color", offsetof(nameless::Split, color)), int_entry("Key", offsetof(nameless::Split, key))}};
  }
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

void register_reductions(nvtxDomainHandle_t domain, bool has_comms) {
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
  attributes.schemaId = has_comms ? kReductionEnum : kOldReductionEnum;
  nvtxPayloadEnumRegister(domain, &attributes);
}

}  // namespace jaxprof::puppets::nvtx_payload
