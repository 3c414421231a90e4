#include "agent/cupti/kernel_names.h"

#include <sys/mman.h>

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {
namespace {

constexpr std::size_t kCopyBytes = collect::kMaxStringBytes + 1;

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

void KernelNames::note_unload(std::uint64_t now_ns, BufferPool* pool, const Strides& strides) noexcept {
  if (!dying_.note_all(pool, strides, last_unload_ns_.load(std::memory_order_acquire)))
    left_unload_ns_.store(now_ns, std::memory_order_release);
  last_unload_ns_.store(now_ns, std::memory_order_release);
  unloads_.fetch_add(1, std::memory_order_acq_rel);
}

spool::MadeVarint KernelNames::look(Slot* slot, const char* name, std::uint64_t start_ns) noexcept {
  has_any_.store(true, std::memory_order_relaxed);
  const std::uint32_t unloads = unloads_.load(std::memory_order_acquire);
  const std::uint64_t unload_ns = last_unload_ns_.load(std::memory_order_acquire);
  const bool is_older = start_ns < unload_ns;
  if (is_older) {
    // What ran before the unload had the name that was there then, whatever is there now.
    const spool::StringId id = dying_.find(name);
    if (id != spool::kNoString) return spool::MadeVarint(id);
    if (slot->name == name) return slot->id;
  }
  const bool may_be_anothers = start_ns < left_unload_ns_.load(std::memory_order_acquire);
  const std::size_t length = may_be_anothers ? 0 : copy_name(name, copy_, kCopyBytes);
  if (length == 0) {
    collect::count_drop(Drop::kGpuNameLost);
    return spool::MadeVarint(spool::kLostString);  // of this record: the next may begin later
  }
  const spool::MadeVarint id(collect::intern(copy_, length));
  *slot = {name, is_older ? 0 : unload_ns, unloads, id};
  return id;
}

}  // namespace jaxprof::cupti
