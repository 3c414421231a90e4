#include "agent/cupti/kernel_names.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {
namespace {

constexpr std::size_t kCopyBytes = collect::kMaxStringBytes + 1;
constexpr std::size_t kPageBytes = 4096;

// Copies at most `capacity` bytes at `from`; fewer where the memory ends, 0 where there is none.
std::size_t copy_memory(const char* from, char* to, std::size_t capacity) noexcept {
  const iovec target{to, capacity};
  const iovec source{const_cast<char*>(from), capacity};
  const long copied = syscall(SYS_process_vm_readv, getpid(), &target, 1UL, &source, 1UL, 0UL);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

// The text at `name`, page by page, as far as it is there. Where the system refuses the call (a sandbox), it is read as
// it is.
std::size_t copy_name(const char* name, char* to) noexcept {
  std::size_t length = 0;
  while (length < kCopyBytes - 1) {
    const std::size_t to_page_end = kPageBytes - (reinterpret_cast<std::uintptr_t>(name + length) & (kPageBytes - 1));
    const std::size_t left = kCopyBytes - 1 - length;
    const std::size_t wanted = to_page_end < left ? to_page_end : left;
    const std::size_t copied = copy_memory(name + length, to + length, wanted);
    if (copied == 0) {
      char witness;
      if (length > 0 || copy_memory("x", &witness, 1) == 1) return 0;
      length = strnlen(name, kCopyBytes - 1);
      std::memcpy(to, name, length);
      return length;
    }
    const void* end = std::memchr(to + length, '\0', copied);
    if (end != nullptr) return static_cast<std::size_t>(static_cast<const char*>(end) - to);
    length += copied;
  }
  return length;
}

}  // namespace

bool KernelNames::open() noexcept {
  const std::size_t table_bytes = kSlots * sizeof(Slot);
  void* memory = mmap(nullptr, table_bytes + kCopyBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  slots_ = static_cast<Slot*>(memory);
  copy_ = static_cast<char*>(memory) + table_bytes;
  return true;
}

void KernelNames::note_unload(std::uint64_t now_ns) noexcept {
  last_unload_ns_.store(now_ns, std::memory_order_release);
  unloads_.fetch_add(1, std::memory_order_acq_rel);
}

spool::StringId KernelNames::look(Slot* slot, const char* name, std::uint64_t start_ns) noexcept {
  const std::uint32_t unloads = unloads_.load(std::memory_order_acquire);
  // What ran before the unload had the name that was read then, whatever is there now.
  if (slot->name == name && start_ns < last_unload_ns_.load(std::memory_order_acquire)) return slot->id;
  const std::size_t length = copy_name(name, copy_);
  const spool::StringId id = length > 0 ? collect::intern(copy_, length) : spool::kLostString;
  *slot = {name, id, unloads};
  return id;
}

}  // namespace jaxprof::cupti
