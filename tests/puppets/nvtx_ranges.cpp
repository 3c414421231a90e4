#include "tests/puppets/nvtx_ranges.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace jaxprof::puppets {
namespace {

constexpr std::uint64_t kStaticIds = 1U << 24U;
constexpr std::uint64_t kReductionEnum = kStaticIds + 20;  // NCCL 2.28.9's number for the enumeration

struct CollectivePayload {
  std::uint64_t comm;
  std::size_t bytes;
};
struct RootPayload {  // Broadcast, Gather, Scatter; Send and Recv with the peer
  std::uint64_t comm;
  std::size_t bytes;
  int root;
};
struct ReductionPayload {  // AllReduce, ReduceScatter
  std::uint64_t comm;
  std::size_t bytes;
  int reduction;
};
struct ReducePayload {
  std::uint64_t comm;
  std::size_t bytes;
  int root;
  int reduction;
};
struct CommPayload {  // making and destroying
  std::uint64_t comm;
  int n_ranks;
  int rank;
  int device;
};
struct SplitPayload {
  std::uint64_t comm;
  std::uint64_t parent;
  int n_ranks;
  int rank;
  int device;
  int color;
  int key;
};

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t result{};
  result.type = type;
  result.name = name;
  result.offset = offset;
  return result;
}
const auto kCommEntry = entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0);
const auto kBytesEntry =
    entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", offsetof(CollectivePayload, bytes));
const auto kRootEntry = entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Root", offsetof(RootPayload, root));
const auto kPeerEntry = entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", offsetof(RootPayload, root));
const auto kReductionEntry = entry(kReductionEnum, "Reduction operation", offsetof(ReductionPayload, reduction));
const auto kReduceOpEntry = entry(kReductionEnum, "Reduction operation", offsetof(ReducePayload, reduction));

struct Schema {
  std::uint64_t number;  // NCCL's own; the id is kStaticIds + number
  std::size_t size_bytes;
  std::vector<nvtxPayloadSchemaEntry_t> entries;
};
Schema schema_of(Function function) {
  const std::vector<nvtxPayloadSchemaEntry_t> root{kCommEntry, kBytesEntry, kRootEntry};
  const std::vector<nvtxPayloadSchemaEntry_t> peer{kCommEntry, kBytesEntry, kPeerEntry};
  const std::vector<nvtxPayloadSchemaEntry_t> reduction{kCommEntry, kBytesEntry, kReductionEntry};
  switch (function) {
    case Function::kAllGather:
      return {4, sizeof(CollectivePayload), {kCommEntry, kBytesEntry}};
    case Function::kAllReduce:
      return {5, sizeof(ReductionPayload), reduction};
    case Function::kBroadcast:
      return {6, sizeof(RootPayload), root};
    case Function::kReduceScatter:
      return {7, sizeof(ReductionPayload), reduction};
    case Function::kReduce:
      return {8, sizeof(ReducePayload), {kCommEntry, kBytesEntry, kRootEntry, kReduceOpEntry}};
    case Function::kSend:
      return {9, sizeof(RootPayload), peer};
    case Function::kRecv:
      return {10, sizeof(RootPayload), peer};
    case Function::kAlltoAll:
      return {16, sizeof(CollectivePayload), {kCommEntry, kBytesEntry}};
    case Function::kGather:
      return {17, sizeof(RootPayload), root};
    case Function::kScatter:
      break;
  }
  return {18, sizeof(RootPayload), root};
}
Schema comm_schema(std::uint64_t number) {
  return {number,
          sizeof(CommPayload),
          {kCommEntry, entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(CommPayload, n_ranks)),
           entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(CommPayload, rank)),
           entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", offsetof(CommPayload, device))}};
}
Schema split_schema() {
  return {
      13,
      sizeof(SplitPayload),
      {kCommEntry, entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "Parent NCCL communicator ID", offsetof(SplitPayload, parent)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(SplitPayload, n_ranks)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(SplitPayload, rank)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", offsetof(SplitPayload, device)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Color", offsetof(SplitPayload, color)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Key", offsetof(SplitPayload, key))}};
}

// What is registered with the domain so far. NCCL has a function-local static for each; one lock serves here.
class Registry {
 public:
  static Registry& of_process() {
    static Registry registry;
    return registry;
  }
  nvtxDomainHandle_t domain() const { return domain_; }

  std::uint64_t schema(const Schema& schema) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = schemas_.try_emplace(schema.number, kStaticIds + schema.number);
    if (is_new) {
      nvtxPayloadSchemaAttr_t attributes{};
      attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                             NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                             NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
      attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
      attributes.entries = schema.entries.data();
      attributes.numEntries = schema.entries.size();
      attributes.payloadStaticSize = schema.size_bytes;
      attributes.schemaId = at->second;
      nvtxPayloadSchemaRegister(domain_, &attributes);
    }
    return at->second;
  }

  nvtxStringHandle_t string(const char* text) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = strings_.try_emplace(text, nullptr);
    if (is_new) {
      at->second = nvtxDomainRegisterStringA(domain_, text);
    }
    return at->second;
  }

  void reductions() {
    const std::lock_guard lock(mutex_);
    if (has_reductions_) {
      return;
    }
    has_reductions_ = true;
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
    nvtxPayloadEnumRegister(domain_, &attributes);
  }

 private:
  Registry() : domain_(nvtxDomainCreateA("NCCL")) {}

  nvtxDomainHandle_t domain_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> schemas_;
  std::map<std::string, nvtxStringHandle_t> strings_;
  bool has_reductions_ = false;
};

nvtxEventAttributes_t named(nvtxStringHandle_t name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  return event;
}

template <typename Payload>
void push(const char* api, const Schema& schema, const Payload& payload) {
  Registry& registry = Registry::of_process();
  const nvtxPayloadData_t data{registry.schema(schema), sizeof payload, &payload};
  nvtxEventAttributes_t event = named(registry.string(api));
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;  // one payload
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  nvtxDomainRangePushEx(registry.domain(), &event);
}

template <typename Payload>
void pop_with(const Schema& schema, const Payload& payload) {
  Registry& registry = Registry::of_process();
  const nvtxPayloadData_t data{registry.schema(schema), sizeof payload, &payload};
  nvtxRangePopPayload(registry.domain(), &data, 1);
}

bool is_silenced() {
  const char* const value = std::getenv("NCCL_NVTX_DISABLE");
  return value != nullptr && std::strtol(value, nullptr, 0) != 0;
}

}  // namespace

NvtxRanges::NvtxRanges(bool is_wanted) : is_enabled_(is_wanted && !is_silenced()) {}

void NvtxRanges::register_reductions() const {
  if (is_enabled_) {
    Registry::of_process().reductions();
  }
}

void NvtxRanges::push_call(const Call& call) const {
  if (!is_enabled_) {
    return;
  }
  const char* const api = api_name(call.function);
  const Schema schema = schema_of(call.function);
  const std::uint64_t comm = call.comm->id;
  if (call.function == Function::kReduce) {
    push(api, schema, ReducePayload{comm, call.bytes(), call.root, call.reduction->value});
  } else if (has_reduction(call.function)) {
    push(api, schema, ReductionPayload{comm, call.bytes(), call.reduction->value});
  } else if (has_root(call.function) || is_p2p(call.function)) {
    push(api, schema, RootPayload{comm, call.bytes(), call.root});
  } else {
    push(api, schema, CollectivePayload{comm, call.bytes()});
  }
}

void NvtxRanges::push_plain(const char* api) const {
  if (is_enabled_) {
    Registry& registry = Registry::of_process();
    const nvtxEventAttributes_t event = named(registry.string(api));
    nvtxDomainRangePushEx(registry.domain(), &event);
  }
}

void NvtxRanges::pop() const {
  if (is_enabled_) {
    nvtxDomainRangePop(Registry::of_process().domain());
  }
}

void NvtxRanges::pop_comm_init(const Communicator& comm) const {
  if (is_enabled_) {
    pop_with(comm_schema(0), CommPayload{comm.id, comm.n_ranks, comm.rank, comm.device});
  }
}

void NvtxRanges::pop_comm_split(const Communicator& parent, int color, int key) const {
  if (is_enabled_) {
    pop_with(split_schema(), SplitPayload{0, parent.id, parent.n_ranks, parent.rank, parent.device, color, key});
  }
}

void NvtxRanges::push_comm_destroy(const Communicator& comm) const {
  if (is_enabled_) {
    push("ncclCommDestroy", comm_schema(2), CommPayload{comm.id, comm.n_ranks, comm.rank, comm.device});
  }
}

void nvtx_name_thread(pid_t thread, const char* name) {
  nvtxNameOsThreadA(static_cast<std::uint32_t>(thread), name);
}

namespace {
nvtxDomainHandle_t step_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("puppet");
  return domain;
}
}  // namespace

StepRange::StepRange(bool is_enabled, std::int64_t iteration) : is_enabled_(is_enabled) {
  if (!is_enabled_) {
    return;
  }
  static const nvtxStringHandle_t name = nvtxDomainRegisterStringA(step_domain(), "step");
  nvtxEventAttributes_t event = named(name);
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = iteration;
  nvtxDomainRangePushEx(step_domain(), &event);
}

StepRange::~StepRange() {
  if (is_enabled_) {
    nvtxDomainRangePop(step_domain());
  }
}

}  // namespace jaxprof::puppets
