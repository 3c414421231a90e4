#include "tests/doubles/cuda/driver/delivery.h"

#include <algorithm>
#include <chrono>

#include "tests/doubles/cuda/driver/driver_switches.h"
#include "tests/doubles/cuda/driver/engine_thread.h"
#include "tests/doubles/cuda/driver/gpu_clock.h"

namespace jaxprof::fake_cuda {

void Delivery::add(OperationPtr operation) {
  const std::int64_t delay_us = switches()[Switch::kDeliveryUs];
  if (delay_us < 0) {
    static_cast<void>(operation.release());  // never delivered, and CUPTI's token lives as long as the process
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!is_running_) {
    is_running_ = true;
    start_engine_thread([this] { run(); });
  }
  std::int64_t at_raw_ns = operation->end_raw_ns + delay_us * 1000;
  if (const std::int64_t jitter_us = switches()[Switch::kDeliveryJitterUs]; jitter_us > 0) {
    at_raw_ns += std::uniform_int_distribution<std::int64_t>(0, jitter_us * 1000)(random_);
  }
  due_.push_back({at_raw_ns, std::move(operation)});
  std::push_heap(due_.begin(), due_.end(), is_later);
  changed_.notify_all();
}

void Delivery::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const std::int64_t wait_ns = due_.front().at_raw_ns - raw_now_ns();
    if (wait_ns > 0) {
      changed_.wait_for(lock, std::chrono::nanoseconds(wait_ns));
      continue;
    }
    std::pop_heap(due_.begin(), due_.end(), is_later);
    const OperationPtr operation = std::move(due_.back().operation);
    due_.pop_back();
    is_delivering_ = true;
    lock.unlock();
    deliver_(*operation);
    lock.lock();
    is_delivering_ = false;
    changed_.notify_all();
  }
}

void Delivery::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return due_.empty() && !is_delivering_; });
}

}  // namespace jaxprof::fake_cuda
