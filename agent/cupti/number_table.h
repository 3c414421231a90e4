// Gives equal keys the same small number, counted from 1 in order of first use: lanes and launch configurations, which
// repeat millions of times. Open addressing in memory that the system gives as it is touched; nothing is ever removed.
// One thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jaxprof::cupti {

// `Key` is plain words without padding: it is hashed and compared as bytes.
template <typename Key, std::uint32_t kSlots>
class NumberTable {
  static_assert((kSlots & (kSlots - 1)) == 0 && sizeof(Key) % 4 == 0);

 public:
  bool open() noexcept {
    void* memory = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    slots_ = static_cast<Slot*>(memory);
    return true;
  }

  // The key's number; 0 if it is new and the table is three quarters full. `is_new` tells if it is met for the first
  // time.
  std::uint32_t number_of(const Key& key, bool* is_new) noexcept {
    *is_new = false;
    for (std::uint32_t at = hash_of(key);; ++at) {
      Slot& slot = slots_[at & (kSlots - 1)];
      if (slot.number == 0) {
        if (count_ >= kSlots / 4 * 3) return 0;
        slot.key = key;
        slot.number = ++count_;
        *is_new = true;
        return slot.number;
      }
      if (std::memcmp(&slot.key, &key, sizeof key) == 0) return slot.number;
    }
  }

 private:
  struct Slot {
    Key key;
    std::uint32_t number;  // 0: free
  };

  static std::uint32_t hash_of(const Key& key) noexcept {
    std::uint32_t words[sizeof(Key) / 4];
    std::memcpy(words, &key, sizeof key);
    std::uint64_t hash = 0x9e3779b97f4a7c15U;
    for (const std::uint32_t word : words) hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    return static_cast<std::uint32_t>(hash >> 32);
  }

  Slot* slots_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace jaxprof::cupti
