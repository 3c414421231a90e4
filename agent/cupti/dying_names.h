// Names of kernels that are about to be freed. Records are read seconds after they were written, and a name lives as
// long as its module. So when a module is unloaded, inside the call that does it, the names of all kernels in records
// that nobody has read are registered: the buffers are the agent's own, zero behind their last record, and may be
// looked through while CUPTI writes. What is in the middle of being written has no name yet, and is not of that module.
//
// The job waits meanwhile, so an unload looks only at what came since the one before, and at so many records and names
// at most. What it has not looked at may be of that module: those kernels have no name, and are counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/cupti/buffer_pool.h"
#include "agent/cupti/record_layout.h"
#include "agent/cupti/strides.h"
#include "agent/spool/state_record.h"

namespace jaxprof::cupti {

// The text at `name`, page by page, as far as it is there: it is copied by a system call that fails where a load would
// crash. Its length; 0 if it is not there, or does not end before `capacity` and the end of its memory.
std::size_t copy_name(const char* name, char* to, std::size_t capacity) noexcept;

class DyingNames {
 public:
  static constexpr std::uint32_t kMaxRecords = 1U << 16;  // an unload: a millisecond or two
  static constexpr std::uint32_t kMaxNames = 1U << 10;

  // A module is being unloaded; the unload before was at `previous_ns` of CUPTI's clock. False if something was left.
  // Any thread, in a callback.
  bool note_all(BufferPool* pool, const Strides& strides, std::uint64_t previous_ns) noexcept;
  // The same for one record. False if there is no room for its name.
  bool note(const Record& kernel, std::uint64_t previous_ns) noexcept;
  // What was at `name` before the last unload; kNoString if it was in no record then. Any thread.
  spool::StringId find(const char* name) const noexcept;

 private:
  static constexpr std::uint32_t kNames = 1U << 12;
  static constexpr std::uint32_t kProbes = 64;
  struct Entry {
    std::atomic<const char*> name;
    std::atomic<spool::StringId> id;
    std::atomic<std::uint32_t> unload;  // the one at which it was read
  };
  // How much an unload may still look at.
  struct Budget {
    std::uint32_t records;
    std::uint32_t names;
  };
  bool note(const Record& kernel, std::uint64_t previous_ns, std::uint32_t unload, Budget* budget) noexcept;
  bool note_buffer(BufferPool* pool, const BufferPool::Unread& part, const Strides& strides, std::uint64_t previous_ns,
                   std::uint32_t unload, Budget* budget) noexcept;
  static std::uint32_t slot_of(const char* name) noexcept {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15U) >> 52);
  }

  Entry entries_[kNames] = {};
  std::atomic<std::uint32_t> unloads_{0};
};

}  // namespace jaxprof::cupti
