// The process's place with CUPTI. There is one slot in the first interface, and it may be taken: by nsys, ncu, a
// debugger, or the job's own profiler. The second interface can be shared, if the driver and whoever came first agree.
// So the second is tried first, then the first, and who is in the way is named. From then on this class hides which of
// the two it is. One thread at a time subscribes; the other calls come from any thread, not from buffer callbacks.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/base/text.h"
#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/library.h"

namespace jaxprof::cupti {

struct BufferCallbacks {
  abi::RequestBuffer request;
  abi::CompleteBuffer complete;
  abi::RequestBufferShared request_shared;
  abi::CompleteBufferShared complete_shared;
};

class Subscriber {
 public:
  // Before all else; `library` stays.
  void use(const Library& library) noexcept {
    functions_ = &library.functions;
    capability_ = library.capability;
  }

  // Takes a place and registers the callbacks. False if there is none, and `why` says who or what is in the way.
  bool subscribe(abi::Callback callback, const BufferCallbacks& buffers, TextBuffer* why) noexcept;
  // Gives it back. No callback is started from then on.
  void unsubscribe() noexcept;

  bool is_subscribed() const noexcept { return handle() != nullptr; }
  // Beside other subscribers?
  bool is_shared() const noexcept { return is_shared_.load(std::memory_order_relaxed); }

  abi::Result enable(abi::Kind kind) noexcept;
  // The same, and asks for records of what exists already.
  abi::Result enable_and_dump(abi::Kind kind) noexcept;
  abi::Result disable(abi::Kind kind) noexcept;
  bool has_api_filter() const noexcept;
  abi::Result enable_api(abi::Domain domain, abi::CallbackId id, bool is_on) noexcept;
  abi::Result enable_callback(abi::Domain domain, abi::CallbackId id, bool is_on) noexcept;
  abi::Result set_flag(abi::Attribute attribute, std::uint8_t value) noexcept;
  abi::Result push_external(std::uint64_t id) noexcept;
  abi::Result pop_external() noexcept;
  abi::Result next_record(std::uint8_t* buffer, std::size_t bytes, void** record) noexcept;
  abi::Result timestamp(std::uint64_t* ns) noexcept;
  // Records that CUPTI has dropped since it was last asked.
  std::uint64_t take_dropped() noexcept;

 private:
  abi::SubscriberHandle handle() const noexcept { return handle_.load(std::memory_order_acquire); }
  bool try_shared(abi::Callback callback, const BufferCallbacks& buffers, char* holder) noexcept;
  abi::Result try_alone(abi::Callback callback, const BufferCallbacks& buffers, char* holder) noexcept;
  void set_thread_ids(abi::SubscriberHandle mine) noexcept;

  const Functions* functions_ = nullptr;
  Capability capability_;
  std::atomic<abi::SubscriberHandle> handle_{nullptr};  // set last: whoever sees it sees the rest
  std::atomic<bool> is_shared_{false};
};

}  // namespace jaxprof::cupti
