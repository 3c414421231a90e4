// Gives equal keys the same small number, counted from 1 in order of first use: lanes and launch configurations, which
// repeat millions of times. Open addressing in memory that the system gives as it is touched; nothing is ever removed.
// One thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jaxprof::cupti {

// The bits in which words in memory differ, of all of them together: 0 if they are the same. No branch a word.
template <std::size_t kBytes>
inline std::uint64_t difference_of_words(const void* one, const void* other) noexcept {
  static_assert(kBytes % 4 == 0);
  const auto difference_at = [one, other](std::size_t at, auto word) {
    auto its = word;
    std::memcpy(&word, static_cast<const char*>(one) + at, sizeof word);
    std::memcpy(&its, static_cast<const char*>(other) + at, sizeof its);
    return std::uint64_t{word ^ its};
  };
  std::uint64_t difference = 0;
#pragma GCC unroll 16
  for (std::size_t at = 0; at + 8 <= kBytes; at += 8) difference |= difference_at(at, std::uint64_t{});
  if constexpr (kBytes % 8 != 0) difference |= difference_at(kBytes - 4, std::uint32_t{});
  return difference;
}

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
      if (difference_of_words<sizeof key>(&slot.key, &key) == 0) return slot.number;
    }
  }

 private:
  struct Slot {
    Key key;
    std::uint32_t number;  // 0: free
  };

  // A sum of products, each of two words (NH, of the UMAC papers): the multiplications do not wait for each other.
  static std::uint32_t hash_of(const Key& key) noexcept {
    constexpr std::size_t kWords = sizeof(Key) / 4;
    std::uint32_t words[kWords + 1];
    std::memcpy(words, &key, sizeof key);
    words[kWords] = 0;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < kWords; i += 2) {
      const std::uint32_t first = words[i] + 0x9e3779b9U * static_cast<std::uint32_t>(i + 1);
      const std::uint32_t second = words[i + 1] + 0x85ebca6bU * static_cast<std::uint32_t>(i + 1);
      hash += static_cast<std::uint64_t>(first) * second;
    }
    return static_cast<std::uint32_t>((hash * 0xff51afd7ed558ccdU) >> 32);
  }

  Slot* slots_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace jaxprof::cupti
