// The state of the fake driver: one object a process, never destroyed. It knows the devices, contexts and streams, the
// tools that watch, and which thread has which context; the driver's functions are built on it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "tests/doubles/cuda/driver/delivery.h"
#include "tests/doubles/cuda/driver/gpu_clock.h"
#include "tests/doubles/cuda/driver/handles.h"
#include "tests/doubles/cuda/hooks.h"

namespace jaxprof::fake_cuda {

class Engine final : public Driver {
 public:
  static Engine& get();

  GpuClock clock;
  Delivery delivery;
  std::atomic<bool> is_ready{false};       // cuInit is done
  std::atomic<int> device_descriptor{-1};  // of a device file, from cuInit on
  std::atomic<void (*)(const FakeCudaOperation*, void*)> truth{nullptr};
  std::atomic<void*> truth_data{nullptr};

  // False in a forked child: nothing of this may be used there, not even its locks.
  bool is_own_process() const;
  int device_count() const { return device_count_; }

  CUcontext make_context(std::uint32_t device, bool is_primary);
  CUcontext primary(std::uint32_t device);  // null: not retained
  void retire_context(CUcontext context);
  CUstream make_stream(CUcontext context, unsigned flags, int priority);
  void retire_stream(CUstream stream);
  // Waits for all streams of `context`.
  void synchronize(CUcontext context);

  CUcontext current() const;
  std::vector<CUcontext>& context_stack() const;  // the calling thread's
  // The stream that a handle means: null is the current context's default one. Null if there is none.
  CUstream resolve(CUstream stream) const;

  // Fills in place and time, tells the observers and queues it, or adds it to the graph that the stream captures.
  void submit(CUstream stream, OperationPtr operation);
  void tell(const ResourceEvent& event);
  void tell(SyncEvent event);
  void tell(const EventMark& mark);
  template <typename Call>
  void each_observer(const Call& call) {
    const int count = observer_count_.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) call(i, *observers_[i]);
  }

  std::uint32_t next_correlation() { return ++correlation_; }
  std::uint32_t next_event() { return ++event_; }
  std::uint32_t next_module() { return ++module_; }
  std::uint32_t next_graph() { return ++graph_; }
  std::uint64_t next_node() { return ++node_; }

  // ---- Driver
  int attach(Observer* observer) override;
  bool is_initialized() override { return is_ready; }
  int descriptor() override { return device_descriptor; }
  std::int64_t now_gpu_ns() override { return clock.of_raw(raw_now_ns()); }
  bool take_slot(const std::string& name, bool is_shared, std::string* holder) override;
  void leave_slot(bool is_shared) override;
  std::vector<DeviceFacts> devices() override;
  std::vector<ContextFacts> contexts() override;
  std::vector<StreamFacts> streams() override;
  std::uint32_t stream_id(CUcontext context, CUstream stream) override;
  std::uint32_t graph_id(CUgraph graph) override { return graph == nullptr ? 0 : graph->id; }
  std::uint32_t graph_exec_id(CUgraphExec graph_exec) override { return graph_exec == nullptr ? 0 : graph_exec->id; }
  std::uint64_t graph_node_id(CUgraphNode node) override { return node == nullptr ? 0 : node->id; }

 private:
  Engine();
  static void ended(OperationPtr operation);
  static void deliver(Operation& operation);

  const int process_;
  const int device_count_;
  std::atomic<std::uint32_t> correlation_{0};
  std::atomic<std::uint32_t> event_{0};
  std::atomic<std::uint32_t> module_{0};
  std::atomic<std::uint32_t> graph_{0};
  std::atomic<std::uint64_t> node_{0};
  std::atomic<int> observer_count_{0};
  Observer* observers_[kMaxObservers] = {};
  std::mutex mutex_;  // of what follows; held across no call out
  std::uint32_t context_count_ = 0;
  std::uint32_t stream_count_ = 0;
  std::vector<CUcontext> contexts_;
  std::vector<CUstream> streams_;
  std::vector<std::string> slot_;  // the holders; several only if it is shared
  bool is_slot_shared_ = false;
};

CUuuid device_uuid(std::uint32_t device);
std::string device_name(std::uint32_t device);

}  // namespace jaxprof::fake_cuda
