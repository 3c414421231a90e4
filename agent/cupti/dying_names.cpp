#include "agent/cupti/dying_names.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "agent/collect/event_sink.h"
#include "agent/cupti/cupti_abi.h"

namespace jaxprof::cupti {
namespace {

constexpr std::size_t kNoteBytes = 4096;  // on the stack of the job's thread; longer names are cut
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

void DyingNames::note(const Record& kernel, std::uint64_t previous_ns) noexcept {
  const char* name = kernel.get(kernel_record::kName);
  if (name == nullptr) return;
  // Of before the unload before, it was noted then, and may be gone since.
  const bool is_older = kernel.get(kernel_record::kStart) < previous_ns;
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    Entry& entry = entries_[(slot_of(name) + i) % kNames];
    const char* held = nullptr;
    const bool is_mine = entry.name.compare_exchange_strong(held, name, std::memory_order_acq_rel);
    if (!is_mine && held != name) continue;
    if (!is_mine && is_older) return;
    char text[kNoteBytes];
    const std::size_t length = copy_name(name, text, sizeof text);
    entry.id.store(length > 0 ? collect::intern(text, length) : spool::kNoString, std::memory_order_release);
    return;
  }
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

void DyingNames::note_all(const BufferPool& pool, const Strides& strides, std::uint64_t previous_ns) noexcept {
  for (std::uint32_t index = 0; index < pool.used_count(); ++index) {
    const BufferPool::Buffer buffer = pool.unread_part(index);
    const char* last = nullptr;
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= buffer.valid_bytes;) {
      std::uint32_t kind = 0;
      std::memcpy(&kind, buffer.data + at, sizeof kind);
      const Record record{buffer.data + at, strides.of(kind)};
      if (record.bytes == 0 || record.bytes > buffer.valid_bytes - at) break;  // zero: the end
      at += record.bytes;
      if (kind != abi::kConcurrentKernel && kind != abi::kKernel) continue;
      const char* name = record.get(kernel_record::kName);
      if (name != last) note(record, previous_ns);
      last = name;
    }
  }
}

}  // namespace jaxprof::cupti
