// NCCL of every profiler interface version, calling the plugin once with each event that the version knows. Descriptors
// are written byte by byte at offsets of our own list, not through the agent's structs, so that a layout that is
// misread there shows here.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "agent/collect/event_sink.h"
#include "agent/collect/session.h"
#include "agent/nccl/plugin.h"
#include "tests/unit/collect/child_program.h"

namespace jaxprof::test {
namespace {

// Bits of the event mask.
constexpr std::uint64_t kGroup = 1, kColl = 2, kP2p = 4, kGroupApi = 1 << 8, kCollApi = 1 << 9, kP2pApi = 1 << 10,
                        kLaunch = 1 << 11, kCeColl = 1 << 12;
constexpr std::uint64_t kHash = 0xabcdef0123456789;

// A descriptor with garbage where nothing is written.
class Bytes {
 public:
  Bytes(int version, std::uint64_t type, const void* parent, int rank) {
    std::memset(bytes_, 0xa5, sizeof bytes_);
    if (version <= 4) {
      put(0, static_cast<std::uint8_t>(type));  // the seven bytes behind it are NCCL's stack
    } else {
      put(0, type);
    }
    put(8, parent).put(16, rank);
  }
  template <typename Value>
  Bytes& put(std::size_t offset, Value value) {
    std::memcpy(bytes_ + offset, &value, sizeof value);
    return *this;
  }
  template <typename Descriptor>
  Descriptor* as() {
    static_assert(sizeof(Descriptor) <= sizeof bytes_);
    return reinterpret_cast<Descriptor*>(bytes_);
  }

 private:
  alignas(8) std::uint8_t bytes_[160];
};

Bytes coll(int version, const void* parent, void* group) {
  Bytes d(version, kColl, parent, 3);
  if (version <= 3) d.put(24, "world").put(32, kHash);
  const std::size_t sequence = version <= 3 ? 40 : 24;
  d.put(sequence, std::uint64_t{77});
  if (version == 1) {
    return d.put(48, std::uint8_t{4})
        .put(72, std::size_t{4096})
        .put(80, 2)
        .put(84, std::uint8_t{7})
        .put(88, 0U)
        .put(96, std::size_t{9999})
        .put(104, std::uint8_t{6})
        .put(105, std::uint8_t{16})
        .put(106, std::uint8_t{1})
        .put(107, std::uint8_t{2})
        .put(108, 0)
        .put(112, 0);
  }
  d.put(sequence + 8, "AllReduce").put(sequence + 32, std::size_t{4096}).put(sequence + 40, 2);
  d.put(sequence + 48, "ncclFloat32");
  const std::size_t channels = version == 2 ? 104 : version == 3 ? 96 : 80;
  if (version == 2) d.put(96, std::size_t{9999});
  d.put(channels, std::uint8_t{6}).put(channels + 1, std::uint8_t{16});
  d.put(channels + 8, "RING").put(channels + 16, "SIMPLE");
  if (version >= 5) d.put(104, group);
  if (version >= 7) d.put(112, "ld_mc").put(120, true).put(128, std::uint64_t{4242});
  return d;
}

Bytes p2p(int version, const void* parent, void* group) {
  Bytes d(version, kP2p, parent, 3);
  if (version <= 3) d.put(24, "world").put(32, kHash);
  const std::size_t function = version <= 3 ? 40 : 24;
  if (version == 1) {
    d.put(function, std::uint8_t{6}).put(56, std::uint8_t{9});
  } else {
    d.put(function, "Send").put(function + 16, "ncclBfloat16");
  }
  d.put(function + 24, std::size_t{512}).put(function + 32, 5);
  if (version >= 4) d.put(60, std::uint8_t{2});
  if (version >= 5) d.put(64, group);
  if (version >= 7) d.put(72, std::uint64_t{4343});
  return d;
}

Bytes coll_api(int version, const void* parent) {
  Bytes d(version, kCollApi, parent, 0);
  d.put(24, "AllGather").put(32, std::size_t{100}).put(40, "ncclInt32").put(48, 0).put(56, std::uintptr_t{0x77});
  d.put(64, true);
  if (version >= 7) d.put(72, std::uint64_t{4444});
  return d;
}

Bytes p2p_api(int version, const void* parent) {
  Bytes d(version, kP2pApi, parent, 0);
  d.put(24, "Recv").put(32, std::size_t{101}).put(40, "ncclInt64").put(48, std::uintptr_t{0x78}).put(56, false);
  if (version >= 7) d.put(64, std::uint64_t{4545});
  return d;
}

Bytes ce_coll(int version) {
  Bytes d(version, kCeColl, nullptr, 3);
  d.put(24, std::uint64_t{5}).put(32, "AlltoAll").put(56, std::size_t{300}).put(64, 0).put(72, "ncclFloat16");
  d.put(80, "MC").put(88, true).put(92, 8U).put(96, 2U).put(100, 11U).put(104, std::uintptr_t{0x79});
  if (version >= 7) d.put(112, std::uint64_t{4646});
  return d;
}

template <typename Table>
void* init(const Table& table, int* mask) {
  void* context = nullptr;
  if constexpr (requires { table.init(&context, mask); }) {
    table.init(&context, mask);
  } else if constexpr (requires { table.init(&context, mask, "world", kHash, 2, 8, 3, nullptr); }) {
    table.init(&context, mask, "world", kHash, 2, 8, 3, nullptr);
  } else {
    table.init(&context, kHash, mask, "world", 2, 8, 3, nullptr);
  }
  return context;
}

template <typename Init, typename Descriptor>
void* start(const nccl::Profiler<Init, Descriptor>& table, void* context, Bytes d) {
  void* handle = nullptr;
  table.start_event(context, &handle, d.as<Descriptor>());
  return handle;
}

template <const auto& table, int version>
void every_event() {
  int mask = -1;
  void* const context = init(table, &mask);
  report("mask", mask);
  void* const group = start(table, context, Bytes(version, kGroup, nullptr, 0));
  table.stop_event(start(table, context, coll(version, group, group)));
  table.stop_event(start(table, context, p2p(version, group, group)));
  table.stop_event(group);
  if constexpr (version >= 5) {
    void* const api = start(table, context, Bytes(version, kGroupApi, nullptr, 0).put(24, true).put(28, 2));
    table.stop_event(start(table, context, coll_api(version, api)));
    table.stop_event(start(table, context, p2p_api(version, api)));
    table.stop_event(start(table, context, Bytes(version, kLaunch, api, 0).put(24, std::uintptr_t{0x76})));
  }
  if constexpr (version >= 6) table.stop_event(start(table, context, ce_coll(version)));
  report("finalize", table.finalize(context));
}

// ---- A GPU collector that only counts.

std::atomic<int> begun{0}, ended{0}, in_launch{0}, nested{0};
std::atomic<std::uint64_t> last_handle{0};
constexpr collect::GpuCollector kCountingCollector = {
    []() noexcept {},
    []() noexcept {},
    []() noexcept {},
    [](std::uint64_t handle) noexcept {
      ++begun;
      last_handle = handle;
      if (++in_launch > 1) ++nested;
    },
    []() noexcept {
      ++ended;
      --in_launch;
    },
    [](std::uint8_t*, std::size_t, std::uint64_t*) noexcept { return std::size_t{0}; },
    [](std::uint32_t) noexcept {},
    []() noexcept { return true; },
    [](std::uint32_t) noexcept {}};

Bytes launch() {
  return Bytes(5, kLaunch, nullptr, 0).put(24, nullptr);
}
void report_brackets(const std::string& when) {
  report("begun_" + when, begun);
  report("ended_" + when, ended);
}

void launches() {
  int mask = 0;
  void* const context = init(ncclProfiler_v5, &mask);
  // Nobody knows of GPUs yet.
  ncclProfiler_v5.stop_event(start(ncclProfiler_v5, context, launch()));
  collect::set_gpu_collector(&kCountingCollector);
  report_brackets("before");
  void* const whole = start(ncclProfiler_v5, context, launch());
  ncclProfiler_v5.stop_event(start(ncclProfiler_v5, context, Bytes(5, kGroup, nullptr, 0)));
  report_brackets("inside");
  ncclProfiler_v5.stop_event(whole);
  ncclProfiler_v5.stop_event(whole);
  report_brackets("after");
  report("handle", static_cast<std::int64_t>(last_handle.load()));
  start(ncclProfiler_v5, context, launch());  // never stopped
  void* const open = start(ncclProfiler_v5, context, launch());
  collect::end_recording(spool::WindowCause::kExit);
  start(ncclProfiler_v5, context, launch());
  report_brackets("at_the_end");
  ncclProfiler_v5.stop_event(open);
  report_brackets("finally");
  report("nested", nested);
}

// ---- While nothing is to be recorded.

void closed_window() {
  int mask = -1;
  void* context = init(ncclProfiler_v1, &mask);
  report("mask", mask);
  void* const group = start(ncclProfiler_v1, context, Bytes(1, kGroup, nullptr, 0));
  void* const call = start(ncclProfiler_v1, context, coll(1, group, nullptr));
  report("has_handle", group != nullptr && call != nullptr);
  ncclProfiler_v1.stop_event(call);
  ncclProfiler_v1.stop_event(group);
  ncclProfiler_v1.finalize(context);
  int new_mask = -1;
  context = init(ncclProfiler_v7, &new_mask);  // and a newer NCCL in the same process
  ncclProfiler_v7.stop_event(start(ncclProfiler_v7, context, coll(7, nullptr, nullptr)));
}

void not_traced() {
  int mask = -1;
  void* const context = init(ncclProfiler_v7, &mask);
  report("mask", mask);
  report("has_context", context != nullptr);
  void* const handle = start(ncclProfiler_v7, context, coll(7, nullptr, nullptr));  // the mask was rewritten
  ncclProfiler_v7.stop_event(handle);
  ncclProfiler_v7.finalize(context);
}

constexpr Scenario kScenarios[] = {
    {"v1", every_event<ncclProfiler_v1, 1>}, {"v2", every_event<ncclProfiler_v2, 2>},
    {"v3", every_event<ncclProfiler_v3, 3>}, {"v4", every_event<ncclProfiler_v4, 4>},
    {"v5", every_event<ncclProfiler_v5, 5>}, {"v6", every_event<ncclProfiler_v6, 6>},
    {"v7", every_event<ncclProfiler_v7, 7>}, {"launches", launches},
    {"closed_window", closed_window},        {"not_traced", not_traced},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test
