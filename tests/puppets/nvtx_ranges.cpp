#include "tests/puppets/nvtx_ranges.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>

#include "tests/puppets/nvtx_schemas.h"

namespace jaxprof::puppets {
namespace {

using namespace nvtx_payload;

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("NCCL");
  return handle;
}

// One kind of range: its name and its payload's schema, each registered when first needed, as NCCL's function-local
// statics are.
class RangeKind {
 public:
  RangeKind(const char* name, Schema schema) : name_(name), schema_(std::move(schema)) {}

  void push_plain() {
    const nvtxEventAttributes_t event = named();
    nvtxDomainRangePushEx(domain(), &event);
  }

  template <typename Payload>
  void push(const Payload& payload) {
    const nvtxPayloadData_t data = described(payload);
    nvtxEventAttributes_t event = named();
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;  // one payload
    event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtxDomainRangePushEx(domain(), &event);
  }

  template <typename Payload>
  void pop(const Payload& payload) {
    const nvtxPayloadData_t data = described(payload);
    nvtxRangePopPayload(domain(), &data, 1);
  }

 private:
  nvtxEventAttributes_t named() {
    std::call_once(name_once_, [this] { registered_ = nvtxDomainRegisterStringA(domain(), name_); });
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = registered_;
    return event;
  }
  template <typename Payload>
  nvtxPayloadData_t described(const Payload& payload) {
    std::call_once(schema_once_, [this] { register_schema(domain(), schema_); });
    return {schema_.id, sizeof payload, &payload};
  }

  const char* const name_;
  const Schema schema_;
  std::once_flag name_once_;
  std::once_flag schema_once_;
  nvtxStringHandle_t registered_ = nullptr;
};

template <std::size_t... i>
std::array<RangeKind, sizeof...(i)> make_call_kinds(bool has_comms, std::index_sequence<i...> /*functions*/) {
  return {RangeKind(kFunctions[i].api, call_schema(static_cast<Function>(i), has_comms))...};
}
// A process stands for one release.
RangeKind& kind_of(Function function, bool has_comms) {
  static std::array kinds = make_call_kinds(has_comms, std::make_index_sequence<kFunctions.size()>());
  return kinds[index_of(function)];
}
RangeKind& group_start() {
  static RangeKind kind("ncclGroupStart", {});
  return kind;
}
RangeKind& group_end() {
  static RangeKind kind("ncclGroupEnd", {});
  return kind;
}
RangeKind& comm_init(bool has_comms) {
  static RangeKind kind("ncclCommInitRank", comm_init_schema(has_comms));
  return kind;
}
RangeKind& comm_split(bool has_comms) {
  static RangeKind kind("ncclCommSplit", comm_split_schema(has_comms));
  return kind;
}
RangeKind& comm_destroy(bool has_comms) {
  static RangeKind kind("ncclCommDestroy", comm_destroy_schema(has_comms));
  return kind;
}

bool is_silenced() {
  const char* const value = std::getenv("NCCL_NVTX_DISABLE");
  return value != nullptr && std::strtol(value, nullptr, 0) != 0;
}

}  // namespace

NvtxRanges::NvtxRanges(bool is_wanted, bool has_comms)
    : is_enabled_(is_wanted && !is_silenced()), has_comms_(has_comms) {}

void NvtxRanges::register_reductions() const {
  if (is_enabled_) {
    static std::once_flag once;
    std::call_once(once, [this] { nvtx_payload::register_reductions(domain(), has_comms_); });
  }
}

void NvtxRanges::push_call(const Call& call) const {
  if (!is_enabled_) {
    return;
  }
  RangeKind& kind = kind_of(call.function, has_comms_);
  const std::uint64_t comm = call.comm->id;
  const int operation = call.reduction->value;
  if (call.function == Function::kReduce) {
    has_comms_ ? kind.push(Reduce{comm, call.bytes(), call.root, operation})
               : kind.push(nameless::Reduce{call.bytes(), call.root, operation});
  } else if (has_reduction(call.function)) {
    has_comms_ ? kind.push(nvtx_payload::Reduction{comm, call.bytes(), operation})
               : kind.push(nameless::Reduction{call.bytes(), operation});
  } else if (has_root(call.function) || is_p2p(call.function)) {
    has_comms_ ? kind.push(Rooted{comm, call.bytes(), call.root})
               : kind.push(nameless::Rooted{call.bytes(), call.root});
  } else {
    has_comms_ ? kind.push(Collective{comm, call.bytes()}) : kind.push(nameless::Collective{call.bytes()});
  }
}

void NvtxRanges::push_group_start() const {
  if (is_enabled_) {
    group_start().push_plain();
  }
}

void NvtxRanges::push_group_end() const {
  if (is_enabled_) {
    group_end().push_plain();
  }
}

void NvtxRanges::pop() const {
  if (is_enabled_) {
    nvtxDomainRangePop(domain());
  }
}

void NvtxRanges::push_comm_init(const Communicator& comm) const {
  if (!is_enabled_) {
    return;
  }
  RangeKind& kind = comm_init(has_comms_);
  has_comms_ ? kind.push_plain() : kind.push(nameless::Comm{comm.rank, comm.n_ranks, comm.device});
}

void NvtxRanges::pop_comm_init(const Communicator& comm) const {
  if (!has_comms_) {
    return pop();
  }
  if (is_enabled_) {
    comm_init(true).pop(Comm{comm.id, comm.n_ranks, comm.rank, comm.device});
  }
}

void NvtxRanges::push_comm_split(const Communicator& parent, int color, int key) const {
  if (!is_enabled_) {
    return;
  }
  RangeKind& kind = comm_split(has_comms_);
  has_comms_ ? kind.push_plain() : kind.push(nameless::Split{parent.rank, parent.n_ranks, parent.device, color, key});
}

void NvtxRanges::pop_comm_split(const Communicator& parent, int color, int key) const {
  if (!has_comms_) {
    return pop();
  }
  if (is_enabled_) {
    comm_split(true).pop(Split{0, parent.id, parent.n_ranks, parent.rank, parent.device, color, key});
  }
}

void NvtxRanges::push_comm_destroy(const Communicator& comm) const {
  if (!is_enabled_) {
    return;
  }
  RangeKind& kind = comm_destroy(has_comms_);
  has_comms_ ? kind.push(Comm{comm.id, comm.n_ranks, comm.rank, comm.device})
             : kind.push(nameless::Comm{comm.rank, comm.n_ranks, comm.device});
}

void NvtxRanges::name_thread(const char* name) const {
  if (is_enabled_) {
    nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name);
  }
}

}  // namespace jaxprof::puppets
