// Makes parts on several threads and hands them over in order. What is made ahead is bounded twice: by the number of
// threads, and by an estimate of its memory, so that a few large parts do not lie beside each other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace jaxprof::assembly {

template <typename Part>
class OrderedParts {
 public:
  // `make(i)` is called once for each i < count, on any thread, in about ascending order. `bytes(i)` estimates what
  // part i takes; parts are made beside others while all together stay below `budget_bytes`, and a larger one by
  // itself.
  OrderedParts(std::size_t count, unsigned n_threads, std::size_t budget_bytes,
               std::function<std::size_t(std::size_t)> bytes, std::function<Part(std::size_t)> make)
      : count_(count),
        n_threads_(n_threads),
        budget_bytes_(budget_bytes),
        bytes_(std::move(bytes)),
        make_(std::move(make)) {
    for (unsigned i = 0; i < n_threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }
  // Parts that were begun are finished and thrown away.
  ~OrderedParts() {
    for (std::jthread& thread : threads_) thread.request_stop();
  }
  OrderedParts(const OrderedParts&) = delete;
  OrderedParts& operator=(const OrderedParts&) = delete;

  // The next part, from 0 on; to be called `count` times, by one thread. Throws what making it threw.
  Part next() {
    std::unique_lock lock(mutex_);
    is_made_.wait(lock, [this] { return made_.count(next_out_) > 0; });
    auto part = made_.extract(next_out_);
    lent_bytes_ = bytes_(next_out_);  // until the next call it is still in memory
    in_flight_bytes_ -= lent_bytes_;
    ++next_out_;
    lock.unlock();
    may_begin_.notify_all();
    if (auto* error = std::get_if<std::exception_ptr>(&part.mapped())) std::rethrow_exception(*error);
    return std::move(std::get<Part>(part.mapped()));
  }

 private:
  bool may_begin() const {
    if (next_in_ >= count_) return false;
    if (next_in_ == next_out_) return true;
    return next_in_ < next_out_ + 2 * n_threads_ && lent_bytes_ + in_flight_bytes_ + bytes_(next_in_) <= budget_bytes_;
  }

  void work(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!may_begin_.wait(lock, stop, [this] { return may_begin(); }) || stop.stop_requested()) return;
      const std::size_t index = next_in_++;
      in_flight_bytes_ += bytes_(index);
      lock.unlock();
      std::variant<std::exception_ptr, Part> part;
      try {
        part.template emplace<Part>(make_(index));
      } catch (...) {
        part = std::current_exception();
      }
      lock.lock();
      made_.emplace(index, std::move(part));
      lock.unlock();
      is_made_.notify_one();
      may_begin_.notify_all();
    }
  }

  const std::size_t count_;
  const std::size_t n_threads_;  // threads_ still grows when the first of them looks
  const std::size_t budget_bytes_;
  const std::function<std::size_t(std::size_t)> bytes_;
  const std::function<Part(std::size_t)> make_;
  std::mutex mutex_;
  std::condition_variable_any may_begin_;
  std::condition_variable is_made_;
  std::map<std::size_t, std::variant<std::exception_ptr, Part>> made_;
  std::size_t next_in_ = 0;
  std::size_t next_out_ = 0;
  std::size_t in_flight_bytes_ = 0;
  std::size_t lent_bytes_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace jaxprof::assembly
