// Scenarios of an NCCL that has loaded the plugin, from well-behaved to what its corner cases pass.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "agent/nccl/plugin.h"
#include "agent/spool/event_record.h"
#include "tests/unit/collect/child_program.h"

namespace jaxprof::test {
namespace {

using nccl::DescriptorV5;
using spool::NcclEvent;

void* const kUnset = reinterpret_cast<void*>(0x5555);

DescriptorV5 descriptor(NcclEvent event, void* parent = nullptr) {
  DescriptorV5 d{};
  d.type = std::uint64_t{1} << static_cast<std::uint32_t>(event);
  d.parent = parent;
  return d;
}

DescriptorV5 all_reduce(std::uint64_t sequence, void* parent = nullptr) {
  DescriptorV5 d = descriptor(NcclEvent::kColl, parent);
  d.coll = {sequence, "AllReduce", nullptr, nullptr, 1024, -1, "ncclFloat32", 4, 16, "RING", "SIMPLE", nullptr};
  return d;
}

void* init(std::uint64_t hash = 0xc0ffee, int rank = 2) {
  void* context = kUnset;
  int mask = -1;
  ncclProfiler_v5.init(&context, hash, &mask, "world", 2, 8, rank, nullptr);
  return context;
}

void* start(void* context, DescriptorV5 d) {
  void* handle = kUnset;
  ncclProfiler_v5.start_event(context, &handle, &d);
  return handle;
}

bool is_handle(void* handle) {
  return handle != nullptr && handle != kUnset;
}

void one_call() {
  void* context = kUnset;
  int mask = -1;
  report("init", ncclProfiler_v5.init(&context, 0xc0ffee, &mask, "world", 2, 8, 5, nullptr));
  report("mask", mask);
  report("has_context", is_handle(context));
  DescriptorV5 group = descriptor(NcclEvent::kGroupApi);
  group.group_api = {false, 1};
  void* const group_handle = start(context, group);
  DescriptorV5 api = descriptor(NcclEvent::kCollApi, group_handle);
  api.coll_api = {"AllReduce", 1024, "ncclFloat32", -1, reinterpret_cast<void*>(0x77), true};
  void* const api_handle = start(context, api);
  void* const coll = start(context, all_reduce(9, api_handle));
  report("state", ncclProfiler_v5.record_event_state(coll, 3, nullptr));
  report("stop", ncclProfiler_v5.stop_event(coll));
  ncclProfiler_v5.stop_event(api_handle);
  ncclProfiler_v5.stop_event(group_handle);
  report("finalize", ncclProfiler_v5.finalize(context));
}

void null_everywhere() {
  report("init", ncclProfiler_v5.init(nullptr, 1, nullptr, nullptr, 1, 1, 0, nullptr));
  void* context = init();
  DescriptorV5 d = all_reduce(1);
  report("no_place_for_handle", ncclProfiler_v5.start_event(context, nullptr, &d));
  void* handle = kUnset;
  report("no_descriptor", ncclProfiler_v5.start_event(context, &handle, nullptr));
  report("handle_without_descriptor", handle == nullptr);
  report("no_context", is_handle(start(nullptr, d)));
  report("stop_null", ncclProfiler_v5.stop_event(nullptr));
  report("state_null", ncclProfiler_v5.record_event_state(nullptr, 1, nullptr));
  report("finalize_null", ncclProfiler_v5.finalize(nullptr));
  DescriptorV5 nameless = descriptor(NcclEvent::kColl);
  report("null_strings", is_handle(start(context, nameless)));
}

void foreign_handles() {
  void* context = init();
  std::vector<void*> foreign = {kUnset, reinterpret_cast<void*>(UINTPTR_MAX), context, &context,
                                reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(context) ^ (1ULL << 60))};
  for (void* handle : foreign) {
    ncclProfiler_v5.stop_event(handle);
    ncclProfiler_v5.record_event_state(handle, 1, nullptr);
    ncclProfiler_v5.finalize(handle == context ? nullptr : handle);
  }
  start(context, all_reduce(1, kUnset));
  start(kUnset, all_reduce(2));
}

void odd_order() {
  void* context = init();
  void* handle = start(context, all_reduce(1));
  ncclProfiler_v5.stop_event(handle);
  report("double_stop", ncclProfiler_v5.stop_event(handle));
  ncclProfiler_v5.finalize(context);
  report("double_finalize", ncclProfiler_v5.finalize(context));
  void* late = start(context, all_reduce(2));
  report("after_finalize", is_handle(late));
  ncclProfiler_v5.stop_event(late);
}

void unknown_types() {
  void* context = init();
  DescriptorV5 d = all_reduce(1);
  int handles = 0;
  for (int bit = 0; bit < 64; ++bit) {
    d.type = std::uint64_t{1} << bit;
    d.coll = {};
    handles += is_handle(start(context, d)) ? 1 : 0;
  }
  report("handles", handles);
  d.type = 0;
  report("none", start(context, d) == nullptr);
  d.type = 6;
  report("two", start(context, d) == nullptr);
}

void unknown_strings() {
  void* context = init();
  DescriptorV5 d = all_reduce(1);
  d.coll.function = "AllReduceV2";
  d.coll.datatype = "ncclFloat4";
  d.coll.algorithm = "";
  d.coll.protocol = "simple";
  start(context, d);
}

void every_thread() {
  constexpr int kThreads = 8;
  constexpr std::uint64_t kCalls = 100;
  void* shared = init();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, shared] {
      void* own = init(static_cast<std::uint64_t>(t) + 1, t);
      for (std::uint64_t i = 0; i < kCalls; ++i) {
        void* handle = start(i % 2 == 0 ? own : shared, all_reduce(i));
        ncclProfiler_v5.record_event_state(handle, 1, nullptr);
        ncclProfiler_v5.stop_event(handle);
      }
      ncclProfiler_v5.finalize(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  report("calls", kThreads * kCalls);
}

void late_start() {
  report("late", is_handle(start(nullptr, all_reduce(3))));
}
void after_exit() {
  std::atexit(late_start);  // before the agent's own handler, so it runs after it
  start(init(), all_reduce(1));
}

constexpr Scenario kScenarios[] = {
    {"one_call", one_call},         {"null_everywhere", null_everywhere}, {"foreign_handles", foreign_handles},
    {"odd_order", odd_order},       {"unknown_types", unknown_types},     {"unknown_strings", unknown_strings},
    {"every_thread", every_thread}, {"after_exit", after_exit},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test
