// Calls that only added a node to a graph. While a stream is captured, cuLaunchKernel and its like look as ever in
// their records, and no work follows: whoever waits for the work of all launches would wait for these for ever, and
// count them as lost. But CUPTI tells of the node inside the call, on its thread. So times and threads of new nodes are
// kept, and a call that has one in it starts no work. Nodes come from callbacks; the drain thread asks, a second later
// or so.
#pragma once

#include <atomic>
#include <cstdint>

namespace jaxprof::cupti {

class CapturedCalls {
 public:
  // `thread` (gettid) has made a node of a graph at `now_ns` of CUPTI's clock. Any thread; lock-free.
  void note_node(std::uint32_t thread, std::uint64_t now_ns) noexcept {
    Node& node = nodes_[count_.fetch_add(1, std::memory_order_relaxed) % kNodes];
    node.thread.store(thread, std::memory_order_relaxed);
    node.made_ns.store(now_ns, std::memory_order_release);
  }

  // Did `thread` make a node between these times? Only the last kNodes nodes are known.
  bool has_node(std::uint32_t thread, std::uint64_t start_ns, std::uint64_t end_ns) const noexcept {
    const std::uint32_t count = count_.load(std::memory_order_acquire);
    for (std::uint32_t back = 1; back <= count && back <= kNodes; ++back) {
      const Node& node = nodes_[(count - back) % kNodes];
      const std::uint64_t made_ns = node.made_ns.load(std::memory_order_acquire);
      if (made_ns + kDisorderNs < start_ns) return false;
      if (made_ns >= start_ns && made_ns <= end_ns && node.thread.load(std::memory_order_relaxed) == thread)
        return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kNodes = 1U << 14;
  static constexpr std::uint64_t kDisorderNs = 10'000'000;  // threads that were late to write theirs down
  struct Node {
    std::atomic<std::uint64_t> made_ns;
    std::atomic<std::uint32_t> thread;
  };

  Node nodes_[kNodes] = {};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace jaxprof::cupti
