// NCCL's ranges, with the payloads that its releases give, in and out of the window.
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/collect/child_program.h"
#include "tests/unit/nvtx/fake_nvtx.h"

namespace jaxprof::test {
namespace {

struct Call {
  std::uint64_t communicator;
  std::size_t bytes;
  int peer;
};

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t result{};
  result.type = type;
  result.name = name;
  result.offset = offset;
  return result;
}

// A program's copy of NVTX with its payload extension and a domain.
class Nccl {
 public:
  explicit Nccl(const char* domain = "NCCL") {
    nvtx_.initialize();
    extension_.initialize();
    domain_ = nvtx_.create_domain(domain);
  }
  void register_schema(std::uint64_t id, const std::vector<nvtxPayloadSchemaEntry_t>& entries) const {
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    schema.entries = entries.data();
    schema.numEntries = entries.size();
    schema.payloadStaticSize = sizeof(Call);
    schema.schemaId = id;
    using Register = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
    extension_.slot<Register>(nvtx::PayloadSlot::kSchemaRegister)(domain_, &schema);
  }
  // As of NCCL 2.25 and later; `kAllReduce` and `kSend`.
  static constexpr std::uint64_t kAllReduce = (1 << 24) + 5, kSend = (1 << 24) + 9;
  void register_present_schemas() const {
    const auto communicator = entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0);
    const auto bytes = entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", 8);
    register_schema(kAllReduce, {communicator, bytes});
    register_schema(kSend, {communicator, bytes, entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", 16)});
  }
  void call(const char* name, std::uint64_t schema, const Call& payload, std::size_t bytes = sizeof(Call)) const {
    const nvtxPayloadData_t data{schema, bytes, &payload};
    nvtxEventAttributes_t attributes = attributes_of(name);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtx_.push(domain_, attributes);
    nvtx_.pop(domain_);
  }
  void plain(const char* name) const {
    nvtx_.push(domain_, attributes_of(name));
    nvtx_.pop(domain_);
  }
  const FakeNvtx& nvtx() const { return nvtx_; }

 private:
  FakeNvtx nvtx_;
  FakeExtension extension_{16};
  nvtxDomainHandle_t domain_ = nullptr;
};

// In the order of the expected ordinals of the test.
void counted() {
  const Nccl nccl;
  nccl.register_present_schemas();
  nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
  nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 9});     // the peer is not in this payload
  nccl.call("ncclAllReduce", Nccl::kAllReduce, {8, 64, 0});     // another communicator
  nccl.call("ncclReduceScatter", Nccl::kAllReduce, {7, 0, 0});  // another function
  nccl.call("ncclSend", Nccl::kSend, {7, 64, 1});
  nccl.call("ncclSend", Nccl::kSend, {7, 64, 2});  // another peer
  nccl.call("ncclSend", Nccl::kSend, {7, 64, 1}, SIZE_MAX);
  nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
}

void not_counted() {
  const Nccl nccl;
  nccl.plain("ncclGroupStart");
  nccl.register_present_schemas();
  nccl.call("ncclAllReduce", 1234, {7, 64, 0});              // a schema that nobody registered
  nccl.call("ncclAllReduce", Nccl::kAllReduce, {0, 64, 0});  // called with no communicator
  nccl.call("ncclSend", Nccl::kSend, {7, 64, 1}, 16);        // cut before the peer
  nccl.register_schema(4321, {entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", 0)});
  nccl.call("ncclAllReduce", 4321, {7, 64, 0});  // NCCL up to 2.24
  const Nccl other("Other");
  other.register_present_schemas();
  other.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
}

void in_a_window() {
  const Nccl nccl;
  nccl.register_present_schemas();
  for (int i = 0; i < 5; ++i) nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
  nccl.nvtx().push(nullptr, attributes_of("window"));
  for (int i = 0; i < 3; ++i) nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
  nccl.nvtx().pop(nullptr);
  for (int i = 0; i < 2; ++i) nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
}

void every_thread() {
  const Nccl nccl;
  nccl.register_present_schemas();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&nccl, t] {
      for (int i = 0; i < 100; ++i) {
        nccl.call("ncclAllReduce", Nccl::kAllReduce, {7, 64, 0});
        nccl.call("ncclSend", Nccl::kSend, {t + 1, 64, i % 4});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// More than there is room for.
void too_many() {
  const Nccl nccl;
  nccl.register_present_schemas();
  for (std::uint64_t i = 1; i <= 80'000; ++i) nccl.call("ncclAllReduce", Nccl::kAllReduce, {i, 64, 0});
  nccl.nvtx().push(nullptr, attributes_of("window"));
  for (std::uint64_t i = 1; i <= 80'000; i += 100) nccl.call("ncclAllReduce", Nccl::kAllReduce, {i, 64, 0});
  nccl.nvtx().pop(nullptr);
}

constexpr Scenario kScenarios[] = {
    {"counted", counted},           {"not_counted", not_counted}, {"in_a_window", in_a_window},
    {"every_thread", every_thread}, {"too_many", too_many},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test
