// Whether all of a graph's launch is on record. The launch is one call with one correlation and as many records as the
// graph has kernels, copies and memsets, and where CUPTI writes records only when work has ended, the first of them
// says nothing of the rest. CUPTI does not tell how many there are to be, but launches of one executable graph run one
// after the other: what the one before yielded is what the last one is to yield. Where that is not known, because a
// graph was launched once or its launches differ (conditional nodes), only silence tells. The drain thread writes; any
// thread may read the counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace jaxprof::cupti {

class GraphLaunches {
 public:
  // A record of work that was launched with the executable graph of this id; 0 is none.
  void add_work(std::uint32_t graph, std::uint32_t correlation) noexcept {
    if (graph != 0) [[unlikely]]
      note(graph, correlation);
  }

  // Graphs whose last launch has fewer records than the ones before.
  std::uint32_t short_launches() const noexcept { return short_.load(std::memory_order_acquire); }
  // Graphs of whose last launch nobody knows how many records it is to have.
  std::uint32_t unmeasured_launches() const noexcept { return unmeasured_.load(std::memory_order_acquire); }

  // Launches of now are waited for no longer, as in LaunchLedger.
  void ask_to_forget() noexcept { asks_.fetch_add(1, std::memory_order_acq_rel); }
  void forget_if_asked() noexcept {
    const std::uint32_t asks = asks_.load(std::memory_order_acquire);
    if (asks == asks_done_) [[likely]]
      return;
    asks_done_ = asks;
    for (Slot& slot : slots_) slot.state = kWhole;
    short_.store(0, std::memory_order_release);
    unmeasured_.store(0, std::memory_order_release);
  }

 private:
  // Graphs beyond these take the places of others, which are then unmeasured.
  static constexpr std::uint32_t kSlots = 1U << 12;
  enum State : std::uint8_t { kWhole, kShort, kUnmeasured };
  struct Slot {
    std::uint32_t graph;
    std::uint32_t correlation;  // of the last launch
    std::uint32_t records;      // of it
    std::uint32_t size;         // records of each launch before; 0: there was none
    bool varies;                // they had not all as many
    State state;
  };

  void note(std::uint32_t graph, std::uint32_t correlation) noexcept {
    Slot& slot = slots_[graph % kSlots];
    if (slot.graph != graph) {
      const State state = slot.state;
      slot = {graph, correlation, 1, 0, false, state};
    } else if (slot.correlation == correlation) {
      ++slot.records;
    } else if (static_cast<std::int32_t>(correlation - slot.correlation) > 0) {
      slot.varies = slot.varies || (slot.size != 0 && slot.records != slot.size);
      slot.size = slot.records;
      slot.correlation = correlation;
      slot.records = 1;
    } else {
      slot.varies = true;  // a launch was not over when the next one began to come
    }
    if (slot.size != 0 && slot.records > slot.size) slot.varies = true;
    State state = kUnmeasured;
    if (slot.size != 0 && !slot.varies) state = slot.records < slot.size ? kShort : kWhole;
    if (state == slot.state) return;
    count(slot.state, -1);
    slot.state = state;
    count(state, 1);
  }

  void count(State state, int change) noexcept {
    if (state == kWhole) return;
    std::atomic<std::uint32_t>& counter = state == kShort ? short_ : unmeasured_;
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(change),
                  std::memory_order_release);
  }

  Slot slots_[kSlots] = {};
  std::atomic<std::uint32_t> short_{0};
  std::atomic<std::uint32_t> unmeasured_{0};
  std::atomic<std::uint32_t> asks_{0};
  std::uint32_t asks_done_ = 0;
};

}  // namespace jaxprof::cupti
