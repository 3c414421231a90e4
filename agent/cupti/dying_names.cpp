#include "agent/cupti/dying_names.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "agent/collect/event_sink.h"
#include "agent/cupti/cupti_abi.h"

namespace jaxprof::cupti {
namespace {

constexpr std::size_t kNameBytes = 4096;  // on the stack of the job's thread; longer names are cut
constexpr std::size_t kPageBytes = 4096;

// Copies at most `capacity` bytes at `from`; fewer where the memory ends, 0 where there is none.
std::size_t copy_memory(const char* from, char* to, std::size_t capacity) noexcept {
  const iovec target{to, capacity};
  const iovec source{const_cast<char*>(from), capacity};
  const long copied = syscall(SYS_process_vm_readv, getpid(), &target, 1UL, &source, 1UL, 0UL);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

}  // namespace

// Where the system refuses the call (a sandbox), the text is read as it is.
std::size_t copy_name(const char* name, char* to, std::size_t capacity) noexcept {
  std::size_t length = 0;
  while (length < capacity - 1) {
    const std::size_t to_page_end = kPageBytes - (reinterpret_cast<std::uintptr_t>(name + length) & (kPageBytes - 1));
    const std::size_t left = capacity - 1 - length;
    const std::size_t wanted = to_page_end < left ? to_page_end : left;
    const std::size_t copied = copy_memory(name + length, to + length, wanted);
    if (copied == 0) {
      char witness;
      if (length > 0 || copy_memory("x", &witness, 1) == 1) return 0;
      length = strnlen(name, capacity - 1);
      std::memcpy(to, name, length);
      return length;
    }
    const void* end = std::memchr(to + length, '\0', copied);
    if (end != nullptr) return static_cast<std::size_t>(static_cast<const char*>(end) - to);
    length += copied;
  }
  return length;
}

bool DyingNames::note(const Record& kernel, std::uint64_t previous_ns) noexcept {
  Budget one{1, 1};
  return note(kernel, previous_ns, unloads_.fetch_add(1, std::memory_order_relaxed) + 1, &one);
}

bool DyingNames::note(const Record& kernel, std::uint64_t previous_ns, std::uint32_t unload, Budget* budget) noexcept {
  const char* name = kernel.get(kernel_record::kName);
  // Of before the unload before, it was noted then, and may be gone since.
  const bool is_older = kernel.get(kernel_record::kStart) < previous_ns;
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    Entry& entry = entries_[(slot_of(name) + i) % kNames];
    const char* held = entry.name.load(std::memory_order_acquire);
    if (held != nullptr && held != name) continue;
    if (held == name && (is_older || entry.unload.load(std::memory_order_acquire) == unload)) return true;
    if (budget->names == 0) return false;
    if (held == nullptr && !entry.name.compare_exchange_strong(held, name, std::memory_order_acq_rel) && held != name)
      continue;
    --budget->names;
    char text[kNameBytes];
    const std::size_t length = copy_name(name, text, sizeof text);
    entry.id.store(length > 0 ? collect::intern(text, length) : spool::kNoString, std::memory_order_release);
    entry.unload.store(unload, std::memory_order_release);
    return true;
  }
  return false;
}

spool::StringId DyingNames::find(const char* name) const noexcept {
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    const Entry& entry = entries_[(slot_of(name) + i) % kNames];
    const char* held = entry.name.load(std::memory_order_acquire);
    if (held == name) return entry.id.load(std::memory_order_acquire);
    if (held == nullptr) return spool::kNoString;
  }
  return spool::kNoString;
}

// Up to the first kernel without a name, which the next unload has to look at again.
bool DyingNames::note_buffer(BufferPool* pool, const BufferPool::Unread& part, const Strides& strides,
                             std::uint64_t previous_ns, std::uint32_t unload, Budget* budget) noexcept {
  bool is_complete = true;
  bool has_all_names = true;
  std::size_t looked = 0;
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= part.bytes;) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, part.data + at, sizeof kind);
    const Record record{part.data + at, strides.of(kind)};
    if (record.bytes == 0 || record.bytes > part.bytes - at) break;  // zero: the end
    if (budget->records == 0) {
      is_complete = false;
      break;
    }
    --budget->records;
    at += record.bytes;
    if (kind == abi::kConcurrentKernel || kind == abi::kKernel) {
      if (record.get(kernel_record::kName) == nullptr) {
        has_all_names = false;
      } else if (!note(record, previous_ns, unload, budget)) {
        is_complete = false;
        break;
      }
    }
    if (has_all_names) looked = at;
  }
  if (looked > 0) pool->note_looked(part, looked);
  return is_complete;
}

bool DyingNames::note_all(BufferPool* pool, const Strides& strides, std::uint64_t previous_ns) noexcept {
  const std::uint32_t unload = unloads_.fetch_add(1, std::memory_order_relaxed) + 1;
  Budget budget{kMaxRecords, kMaxNames};
  bool is_complete = true;
  for (std::uint32_t index = 0; index < pool->used_count(); ++index) {
    if (!note_buffer(pool, pool->unread_part(index), strides, previous_ns, unload, &budget)) is_complete = false;
  }
  return is_complete;
}

}  // namespace jaxprof::cupti
