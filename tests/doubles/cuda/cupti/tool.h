// The fake CUPTI of a process as a whole: its clients, and the driver that it watches. What the driver tells becomes
// callbacks and records of each client. One a library, never destroyed.
#pragma once

#include <cupti.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/doubles/cuda/cupti/client.h"
#include "tests/doubles/cuda/hooks.h"

namespace jaxprof::fake_cuda {

class Tool final : public Observer {
 public:
  static Tool& get();

  // The process's libcuda.so.1 if it is the fake one, attached to; null if there is none. Any thread.
  Driver* driver();
  // The one client of V1.
  Client& first() { return *clients_[0]; }
  // A client for a V2 subscriber; null if there are too many.
  Client* add_client();
  // The client of a handle; null if it is not subscribed.
  Client* find(CUpti_SubscriberHandle handle);
  static CUpti_SubscriberHandle handle(Client* client) { return reinterpret_cast<CUpti_SubscriberHandle>(client); }
  bool has_v2_subscriber();
  bool has_buffers();                            // of any client
  bool is_broken() const { return is_broken_; }  // after FATAL_ERROR
  void give_back_full();
  void flush(bool is_forced);
  // What cuptiFinalize does: everything is off and flushed, and who still counts on it is torn down with it.
  void finalize();
  // External ids of the calling thread, pushed by `client`.
  void push_external(Client* client, CUpti_ExternalCorrelationKind kind, std::uint64_t id);
  bool pop_external(Client* client, CUpti_ExternalCorrelationKind kind, std::uint64_t* id);
  // Existing devices, contexts or streams as records of a kind that was just enabled.
  // `only`: the handle of the one that is meant; null: all.
  void dump(Client& client, CUpti_ActivityKind kind, const void* only = nullptr);

  // ---- Observer
  void enter(int index, ApiEvent& call) override;
  void leave(int index, ApiEvent& call) override;
  void submitted(Operation& operation) override;
  void completed(Operation& operation) override;
  void resource(const ResourceEvent& event) override;
  void synchronized(const SyncEvent& event) override;
  void event_recorded(const EventMark& mark) override;
  bool traces_graphs() override;
  void called(const char* name) override;

 private:
  Tool();
  template <typename Call>
  void each_client(const Call& call) {
    const int count = client_count_.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) call(*clients_[i]);
  }
  void call_back(int index, ApiEvent& call, CUpti_ApiCallbackSite site);
  void fail_for_good();

  static constexpr int kMaxClients = 16;
  std::mutex mutex_;  // of the list; never held across a callback
  std::atomic<int> client_count_{0};
  Client* clients_[kMaxClients] = {};
  std::atomic<Driver*> driver_{nullptr};
  std::atomic<bool> is_broken_{false};
  std::atomic<std::uint64_t> device_records_{0};
};

}  // namespace jaxprof::fake_cuda
