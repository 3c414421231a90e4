// What a program pays for a range or an NCCL call while the agent records it. The program here is a real one: it uses
// NVTX's own headers, which load the agent by NVTX_INJECTION64_PATH, and the plugin's table as NCCL finds it. The limit
// of anything that notes two instants is two readings of the clock, measured in the same run; the ratio to it is what
// recording adds. Each figure is the best of many batches, since a shared machine only ever adds.
//
// Usage: event_path_bench AGENT [FOLDER]; prints "NAME VALUE UNIT" lines.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "agent/base/clocks.h"
#include "agent/contract/step_marker.h"
#include "tests/bench/bench_session.h"

namespace {

using jaxprof::ClockId;

constexpr int kBatches = 300;
constexpr int kCallsPerBatch = 1000;

// Best time of one call over all batches, ns. The pause lets the drain thread empty the ring: what is measured is the
// path of events that are kept.
double best_ns(auto&& call) {
  double best = 1e18;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCallsPerBatch; ++i) call();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / kCallsPerBatch);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return best;
}

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %10.3f %s\n", name, value, unit);
}

// NCCL's side of the plugin, as far as a Coll event goes; layout of NCCL's profiler plugin header, version 5.
struct CollDescriptor {
  std::uint64_t type;
  void* parent;
  int rank;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* group;
};
static_assert(sizeof(CollDescriptor) == 112);
struct Plugin {
  const char* name;
  int (*init)(void**, std::uint64_t, int*, const char*, int, int, int, void*);
  int (*start)(void*, void**, CollDescriptor*);
  int (*stop)(void*);
  int (*state)(void*, int, void*);
  int (*finalize)(void*);
};

struct MessageSize {
  std::uint64_t communicator;
  std::uint64_t bytes;
  std::int32_t reduction;
};

std::uint64_t register_message_schema(nvtxDomainHandle_t domain) {
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "communicator", nullptr, 0, offsetof(MessageSize, communicator), nullptr,
       nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", nullptr, 0, offsetof(MessageSize, bytes), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "reduction", nullptr, 0, offsetof(MessageSize, reduction), nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 3;
  schema.payloadStaticSize = sizeof(MessageSize);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

nvtxEventAttributes_t attributes_of(nvtxStringHandle_t message) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = message;
  return attributes;
}

void measure_nvtx(double limit_ns) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
  const nvtxEventAttributes_t registered = attributes_of(nvtxDomainRegisterStringA(domain, "a registered string"));
  nvtxEventAttributes_t ascii = registered;
  ascii.messageType = NVTX_MESSAGE_TYPE_ASCII;
  ascii.message.ascii = "forward/attention/softmax, layer 17";
  MessageSize size{0x1234567890abcdef, 1 << 20, 0};
  nvtxPayloadData_t data{register_message_schema(domain), sizeof size, &size};
  nvtxEventAttributes_t with_payload = registered;
  with_payload.payloadType = static_cast<std::int32_t>(0xDFBD0009U);
  with_payload.reserved0 = 1;
  with_payload.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);

  const auto measure = [&](const char* name, const nvtxEventAttributes_t& attributes) {
    const double ns = best_ns([&] {
      nvtxDomainRangePushEx(domain, &attributes);
      nvtxDomainRangePop(domain);
    });
    print((std::string(name) + "_ns").c_str(), ns, "ns a push and pop");
    print((std::string(name) + "_ratio").c_str(), ns / limit_ns, "of two clock readings");
  };
  measure("nvtx_registered", registered);
  measure("nvtx_ascii", ascii);
  measure("nvtx_payload_24B", with_payload);
}

bool measure_nccl(const char* agent, double limit_ns) {
  void* library = dlopen(agent, RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = library != nullptr ? static_cast<const Plugin*>(dlsym(library, "ncclProfiler_v5")) : nullptr;
  if (plugin == nullptr) return false;
  void* context = nullptr;
  int mask = 0;
  plugin->init(&context, 0xfeedface, &mask, "bench", 2, 16, 3, nullptr);
  CollDescriptor coll{};
  coll.type = 2;
  coll.function = "AllReduce";
  coll.datatype = "ncclBfloat16";
  coll.algorithm = "RING";
  coll.protocol = "SIMPLE";
  coll.count = 1 << 20;
  const double ns = best_ns([&] {
    void* handle = nullptr;
    ++coll.sequence;
    plugin->start(context, &handle, &coll);
    plugin->stop(handle);
  });
  print("nccl_coll_ns", ns, "ns a start and stop");
  print("nccl_coll_ratio", ns / limit_ns, "of two clock readings");
  return context != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: event_path_bench AGENT [FOLDER]\n");
    return 2;
  }
  jaxprof::bench::BenchSession session(argc > 2 ? argv[2] : "/tmp", "event_path_bench");
  if (!session.has_page()) {
    std::perror("event_path_bench: cannot make a session");
    return 1;
  }
  // In the domain that is measured, so that every range pays for both looks that tell it from a step.
  jaxprof::parse_step_marker("step@bench", &session.plan().step_marker);
  jaxprof::bench::inject(argv[1]);
  const ClockId clock = jaxprof::choose_event_clock();
  volatile std::uint64_t sink = 0;
  const double limit_ns = best_ns([&] {
    sink = jaxprof::read_event_clock(clock);
    sink = jaxprof::read_event_clock(clock);
  });
  print("two_clock_readings_ns", limit_ns, "ns");
  measure_nvtx(limit_ns);
  const bool has_plugin = measure_nccl(argv[1], limit_ns);
  const jaxprof::ProcessSlot& slot = session.slot();
  const std::uint64_t dropped = session.dropped();
  print("dropped", static_cast<double>(dropped), "events");
  if (slot.state.load() != jaxprof::SlotState::kRecording || !has_plugin || dropped > 0) {
    std::fprintf(stderr, "event_path_bench: the agent did not record everything; the figures above mean nothing\n");
    return 1;
  }
  return 0;
}
