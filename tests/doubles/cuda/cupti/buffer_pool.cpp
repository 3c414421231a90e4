#include "tests/doubles/cuda/cupti/buffer_pool.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/misuse.h"
#include "tests/doubles/cuda/cupti/record_layout.h"
#include "tests/doubles/cuda/cupti/tool.h"
#include "tests/doubles/cuda/cupti/worker.h"

namespace jaxprof::fake_cuda {
namespace {

// From this version on a client may say that it has no buffer; before, CUPTI writes to it.
constexpr std::uint32_t kNullBufferVersion = 27;

void call_complete(const BufferCallbacks& callbacks, LentBuffer& buffer) {
  const CallbackScope scope(CallbackKind::kBuffer);
  ++counts().buffers_completed;
  if (callbacks.complete_v2 != nullptr) {
    CUpti_BufferCallbackCompleteInfo info{};
    info.structSize = sizeof info;
    info.threadId = buffer.thread;
    callbacks.complete_v2(buffer.bytes, buffer.size, buffer.used, &info);
  } else {
    callbacks.complete(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
  }
}

}  // namespace

void BufferPool::set_callbacks(const BufferCallbacks& callbacks) {
  const std::lock_guard lock(mutex_);
  callbacks_ = callbacks;
}

bool BufferPool::has_callbacks() {
  const std::lock_guard lock(mutex_);
  return callbacks_.request != nullptr || callbacks_.request_v2 != nullptr;
}

// ---- records in

RecordSlot BufferPool::append(const RecordBytes& record, bool is_complete) {
  if (record.empty()) return {};
  std::unique_lock lock(mutex_);
  const auto every = static_cast<std::uint64_t>(cupti_switches()[CuptiSwitch::kDropEvery]);
  if (every != 0 && ++appended_ % every == 0) {
    ++dropped_;
    ++counts().dropped_records;
    return {};
  }
  const std::shared_ptr<LentBuffer> buffer = room_for(record.size(), lock);
  if (!buffer) {
    ++dropped_;
    ++counts().dropped_records;
    return {};
  }
  RecordSlot slot{buffer, buffer->used};
  std::memcpy(buffer->bytes + buffer->used, record.data(), record.size());
  buffer->used += record.size();
  ++buffer->record_count;
  if (!is_complete) ++buffer->incomplete;
  ++counts().records;
  return slot;
}

bool BufferPool::complete(const RecordSlot& slot, const RecordBytes& record) {
  const std::lock_guard lock(mutex_);
  LentBuffer& buffer = *slot.buffer;
  if (buffer.is_returned) return false;
  std::memcpy(buffer.bytes + slot.offset, record.data(), record.size());
  --buffer.incomplete;
  const auto place = std::find(retired_.begin(), retired_.end(), slot.buffer);
  if (buffer.incomplete == 0 && place != retired_.end()) {
    full_.push_back(*place);
    retired_.erase(place);
    wake_worker();
  }
  return true;
}

// A buffer with room for `bytes`. The lock is released while the client is asked for one.
std::shared_ptr<LentBuffer> BufferPool::room_for(std::size_t bytes, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t key = is_per_thread_ ? static_cast<std::uint64_t>(gettid()) : 0;
  for (;;) {
    auto& current = current_[key];
    if (current) {
      const bool has_place = current->max_records == 0 || current->record_count < current->max_records;
      if (has_place && current->used + bytes <= current->size) return current;
      retire(std::move(current));
      current = nullptr;
    }
    const BufferCallbacks callbacks = callbacks_;
    lock.unlock();
    std::shared_ptr<LentBuffer> fresh = timed_request(callbacks);
    lock.lock();
    if (!fresh || fresh->size < bytes) return nullptr;
    auto& place = current_[key];
    if (place) retire(std::move(place));  // another thread was faster; its buffer is done with
    place = std::move(fresh);
  }
}

std::shared_ptr<LentBuffer> BufferPool::timed_request(const BufferCallbacks& callbacks) {
  Driver* const driver = Tool::get().driver();
  const std::int64_t begin = driver->now_gpu_ns();
  std::shared_ptr<LentBuffer> buffer = request(callbacks);
  if (!buffer || !records_overhead_) return buffer;
  const RecordBytes record =
      buffer_overhead_record(begin, driver->now_gpu_ns(), static_cast<std::uint32_t>(buffer->thread));
  if (record.size() > buffer->size) return buffer;
  std::memcpy(buffer->bytes, record.data(), record.size());
  buffer->used = record.size();
  buffer->record_count = 1;
  ++counts().records;
  return buffer;
}

std::shared_ptr<LentBuffer> BufferPool::request(const BufferCallbacks& callbacks) {
  if (callbacks.request == nullptr && callbacks.request_v2 == nullptr) return nullptr;
  auto buffer = std::make_shared<LentBuffer>();
  buffer->thread = static_cast<std::uint64_t>(gettid());
  ++counts().buffers_requested;
  if (is_worker()) ++counts().buffers_requested_on_worker;
  {
    const CallbackScope scope(CallbackKind::kBuffer);
    if (callbacks.request_v2 != nullptr) {
      CUpti_BufferCallbackRequestInfo info{sizeof info};
      callbacks.request_v2(&buffer->bytes, &buffer->size, &buffer->max_records, &info);
    } else {
      callbacks.request(&buffer->bytes, &buffer->size, &buffer->max_records);
    }
  }
  if (buffer->bytes == nullptr) {
    ++counts().null_buffers;
    if (cupti_version() < kNullBufferVersion) std::raise(SIGSEGV);
    return nullptr;
  }
  if (!is_zeroed_) {
    std::memset(buffer->bytes, 0, buffer->size);
  } else if (std::any_of(buffer->bytes, buffer->bytes + buffer->size, [](std::uint8_t byte) { return byte != 0; })) {
    violation(counts().buffer_not_zeroed, "buffer_not_zeroed", "buffer request");
  }
  return buffer;
}

// ---- buffers out

void BufferPool::retire(std::shared_ptr<LentBuffer> buffer) {
  auto& list = buffer->incomplete == 0 ? full_ : retired_;
  list.push_back(std::move(buffer));
  if (!full_.empty()) wake_worker();
}

void BufferPool::give_back_full() {
  std::vector<std::shared_ptr<LentBuffer>> full;
  {
    const std::lock_guard lock(mutex_);
    full.swap(full_);
    for (const auto& buffer : full) buffer->is_returned = true;
  }
  give_back(full);
}

void BufferPool::flush(bool is_forced) {
  std::vector<std::shared_ptr<LentBuffer>> leaving;
  {
    const std::lock_guard lock(mutex_);
    leaving.swap(full_);
    const auto take = [&leaving, is_forced](std::shared_ptr<LentBuffer>& buffer) {
      if (!buffer || buffer->used == 0 || (buffer->incomplete != 0 && !is_forced)) return false;
      leaving.push_back(std::move(buffer));
      return true;
    };
    retired_.erase(std::remove_if(retired_.begin(), retired_.end(), take), retired_.end());
    for (auto& [key, buffer] : current_) {
      if (take(buffer)) buffer = nullptr;
    }
    for (const auto& buffer : leaving) {
      buffer->is_returned = true;
      counts().abandoned_records += buffer->incomplete;
    }
  }
  if (cupti_switches()[CuptiSwitch::kCrossThread] == 0) {
    give_back(leaving);
    return;
  }
  // By another thread, while this one waits: if it holds a lock that its own callback wants, the callback cannot end.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> is_done = done->get_future();
  std::thread([this, leaving, done] {
    give_back(leaving);
    done->set_value();
  }).detach();
  if (is_done.wait_for(std::chrono::seconds(3)) != std::future_status::ready) {
    violation(counts().lock_across, "lock_across", "cuptiActivityFlushAll");
  }
}

void BufferPool::give_back(const std::vector<std::shared_ptr<LentBuffer>>& buffers) {
  BufferCallbacks callbacks;
  {
    const std::lock_guard lock(mutex_);
    callbacks = callbacks_;
  }
  for (const auto& buffer : buffers) call_complete(callbacks, *buffer);
}

std::size_t BufferPool::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

}  // namespace jaxprof::fake_cuda
