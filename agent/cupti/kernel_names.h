// Numbers of kernel names. A record points to its kernel's name in CUPTI's memory, and millions of records point to the
// same few: so a pointer is looked up, not read. But CUPTI frees a name when its module is unloaded, and may use the
// memory for another: after an unload a pointer is read anew for records that began later, and records of before keep
// the name that it had (dying_names.h). What is read may be gone, so it is copied by a system call that fails instead
// of a load that crashes. The drain thread asks; unloads are noted from callbacks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/cupti/dying_names.h"
#include "agent/spool/state_record.h"
#include "agent/spool/varint.h"

namespace jaxprof::cupti {

class KernelNames {
 public:
  bool open() noexcept;
  // A module is being unloaded, at `now_ns` of CUPTI's clock. Any thread.
  void note_unload(std::uint64_t now_ns, BufferPool* pool, const Strides& strides) noexcept;

  // Spreads addresses of names over tables of 2^n slots, by its top bits.
  static std::uint64_t hash_of(const char* name) noexcept {
    return reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15U;
  }

  // The number of the name that a record of that start points to; kLostString if it is not readable any more, or may be
  // another's by now, which is counted (Drop::kGpuNameLost).
  spool::MadeVarint number_of(const char* name, std::uint64_t start_ns) noexcept {
    if (name == nullptr) return spool::MadeVarint(spool::kNoString);
    Slot& slot = slots_[hash_of(name) >> (64 - kSlotBits)];
    if (slot.name == name && slot.unloads == unloads_.load(std::memory_order_acquire) && start_ns >= slot.from_ns)
        [[likely]]
      return slot.id;
    return look(&slot, name, start_ns);
  }

  // Was any asked for, which is when a kernel is recorded? Any thread.
  bool has_any() const noexcept { return has_any_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kSlotBits = 13;
  static constexpr std::uint32_t kSlots = 1U << kSlotBits;
  struct Slot {
    const char* name;
    std::uint64_t from_ns;  // it is the name of what began then or later
    std::uint32_t unloads;  // so many there had been when it was read
    spool::MadeVarint id;
  };

  spool::MadeVarint look(Slot* slot, const char* name, std::uint64_t start_ns) noexcept;

  DyingNames dying_;
  Slot* slots_ = nullptr;
  char* copy_ = nullptr;
  std::atomic<bool> has_any_{false};
  std::atomic<std::uint32_t> unloads_{0};
  std::atomic<std::uint64_t> last_unload_ns_{0};
  std::atomic<std::uint64_t> left_unload_ns_{0};  // the last that did not look at all names
};

}  // namespace jaxprof::cupti
