// Work on many rows by all processors: the rows are cut into stretches, one a thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace jaxprof::study {

inline constexpr std::size_t kRowsWorthAThread = 65'536;

// Calls take(begin, end) for stretches that cover [0, n), each by a thread of its own; the caller's alone where fewer
// than `least` positions would fall to each. `take` must not throw.
template <typename Take>
void in_parallel(std::size_t n, std::size_t least, const Take& take) {
  constexpr std::size_t kMostThreads = 16;
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t n_threads =
      std::clamp<std::size_t>(n / std::max<std::size_t>(1, least), 1, std::min(processors, kMostThreads));
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < n_threads; ++i) {
    threads.emplace_back([&take, n, n_threads, i] { take(n * i / n_threads, n * (i + 1) / n_threads); });
  }
  take(std::size_t{0}, n / n_threads);
}

}  // namespace jaxprof::study
