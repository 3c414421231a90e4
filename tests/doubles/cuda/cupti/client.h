// One user of CUPTI: its callbacks, the kinds it enabled, its buffers. All V1 calls of a process share one client,
// whoever makes them, which is how a second tool silently takes the first one's buffers; each cuptiSubscribe_v2 makes
// its own.
#pragma once

#include <cupti.h>

#include <atomic>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/doubles/cuda/cupti/buffer_pool.h"
#include "tests/doubles/cuda/cupti/record_layout.h"

namespace jaxprof::fake_cuda {

inline constexpr std::size_t kCbidLimit = 1024;

// What a device operation keeps for one client until its times are known.
struct ClientToken final : RecordToken {
  explicit ClientToken(class Client* one) : client(one) {}
  Client* const client;
  RecordSlot slot;
  bool is_late = false;  // it enters a buffer only now that it has ended
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::uint32_t correlation = 0;
};

class Client {
 public:
  explicit Client(bool is_second_generation);

  const bool is_v2;
  std::string name;
  bool is_shared = false;  // V2: allowed others
  std::atomic<bool> is_subscribed{false};
  std::atomic<bool> has_thread_system_ids{false};
  BufferPool buffers;

  // Any thread; `function` is null between subscriptions.
  void subscribe(CUpti_CallbackFunc function, void* data);
  void unsubscribe();
  void enable_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool is_on);
  void enable_domain(CUpti_CallbackDomain domain, bool is_on);
  bool wants(CUpti_CallbackDomain domain, CUpti_CallbackId cbid) const;
  void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* about);

  void set_kind(CUpti_ActivityKind kind, bool is_on);
  bool records(CUpti_ActivityKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  std::vector<CUpti_ActivityKind> enabled_kinds() const;
  void allow_api(bool is_runtime, CUpti_CallbackId cbid, bool is_on);
  bool records_api(bool is_runtime, CUpti_CallbackId cbid) const;
  // Do records have correlation ids? Only if calls are watched.
  bool has_correlation() const;

  // The attribute's value, 0 if it was never set. 8 bytes at most.
  std::uint64_t attribute(CUpti_ActivityAttribute attribute);
  void set_attribute(CUpti_ActivityAttribute attribute, std::uint64_t value);
  std::uint32_t thread_id() const;

  // The times of an operation: written, or kept until the kind is enabled again (LATE_END).
  void finish(ClientToken& token, const Operation& operation);
  void finish_parked(CUpti_ActivityKind kind, std::int64_t now_gpu_ns);

 private:
  struct Parked {
    RecordSlot slot;
    CUpti_ActivityKind kind;
    RecordBytes record;
  };
  std::atomic<CUpti_CallbackFunc> function_{nullptr};
  std::atomic<void*> data_{nullptr};
  std::atomic<bool> callbacks_[CUPTI_CB_DOMAIN_SIZE][kCbidLimit] = {};
  std::atomic<bool> kinds_[kKindLimit] = {};
  std::atomic<bool> api_allowed_[2][kCbidLimit] = {};
  std::atomic<bool> api_denied_[2][kCbidLimit] = {};
  std::atomic<bool> is_any_api_allowed_[2] = {};
  std::atomic<int> watched_calls_{0};
  std::atomic<std::uint64_t> ended_{0};
  std::mutex mutex_;
  std::map<CUpti_ActivityAttribute, std::uint64_t> attributes_;
  std::vector<Parked> parked_;
};

}  // namespace jaxprof::fake_cuda
