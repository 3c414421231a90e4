#include "agent/cupti/buffer_pool.h"

#include <sys/mman.h>

#include <cstring>

namespace jaxprof::cupti {
namespace {

// Links hold index + 1; 0 ends a stack.
constexpr std::uint32_t kNone = 0;
constexpr std::uint64_t kTag = 1ULL << 32;

void* reserve(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

bool BufferPool::open(std::uint64_t cap_bytes, bool may_refuse) noexcept {
  may_refuse_ = may_refuse;
  std::uint64_t count = cap_bytes / kBufferBytes;
  if (count < kMinBuffers) count = kMinBuffers;
  if (count > (1U << 20)) count = 1U << 20;
  const std::size_t total = static_cast<std::size_t>(count) + kDiscardBuffers;
  memory_bytes_ = static_cast<std::size_t>(count) * kBufferBytes + kDiscardBuffers * kDiscardBytes;
  void* links = reserve(total * (sizeof *next_ + sizeof *valid_bytes_ + sizeof *taken_ + sizeof *looked_));
  void* memory = reserve(memory_bytes_);
  if (links == nullptr || memory == nullptr) return false;
  valid_bytes_ = static_cast<std::atomic<std::size_t>*>(links);
  taken_ = reinterpret_cast<std::atomic<std::uint64_t>*>(valid_bytes_ + total);
  looked_ = taken_ + total;
  next_ = reinterpret_cast<std::atomic<std::uint32_t>*>(looked_ + total);
  memory_ = static_cast<std::uint8_t*>(memory);
  buffer_count_ = static_cast<std::uint32_t>(count);
  // But for the last, which all share that find no other.
  for (std::uint32_t i = static_cast<std::uint32_t>(total) - 1; i-- > buffer_count_;) push(&free_discards_, i);
  for (std::uint32_t i = buffer_count_; i-- > 0;) push(&free_, i);
  return true;
}

std::uint32_t BufferPool::pop(std::atomic<std::uint64_t>* head) noexcept {
  std::uint64_t seen = head->load(std::memory_order_acquire);
  for (;;) {
    const auto link = static_cast<std::uint32_t>(seen);
    if (link == kNone) return kNone;
    const std::uint64_t tag = (seen & ~(kTag - 1)) + kTag;
    const std::uint64_t after = tag | next_[link - 1].load(std::memory_order_relaxed);
    if (head->compare_exchange_weak(seen, after, std::memory_order_acq_rel, std::memory_order_acquire)) return link;
  }
}

void BufferPool::push(std::atomic<std::uint64_t>* head, std::uint32_t index) noexcept {
  std::uint64_t seen = head->load(std::memory_order_relaxed);
  for (;;) {
    next_[index].store(static_cast<std::uint32_t>(seen), std::memory_order_relaxed);
    const std::uint64_t after = ((seen & ~(kTag - 1)) + kTag) | (index + 1);
    if (head->compare_exchange_weak(seen, after, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
  }
}

std::uint8_t* BufferPool::data_of(std::uint32_t index) const noexcept {
  if (index < buffer_count_) return memory_ + index * kBufferBytes;
  return memory_ + buffer_count_ * kBufferBytes + (index - buffer_count_) * kDiscardBytes;
}

bool BufferPool::find(const std::uint8_t* data, std::uint32_t* index) const noexcept {
  if (data < memory_ || data >= memory_ + memory_bytes_) return false;
  const auto offset = static_cast<std::size_t>(data - memory_);
  const std::size_t pool_bytes = buffer_count_ * kBufferBytes;
  *index = static_cast<std::uint32_t>(offset < pool_bytes ? offset / kBufferBytes
                                                          : buffer_count_ + (offset - pool_bytes) / kDiscardBytes);
  return true;
}

std::uint8_t* BufferPool::take(std::size_t* bytes) noexcept {
  held_.fetch_add(1, std::memory_order_acq_rel);
  if (const std::uint32_t link = pop(&free_); link != kNone) {
    *bytes = kBufferBytes;
    taken_[link - 1].store(takes_.fetch_add(1, std::memory_order_acq_rel) + 1, std::memory_order_release);
    std::uint32_t used = used_.load(std::memory_order_relaxed);
    while (used < link && !used_.compare_exchange_weak(used, link, std::memory_order_acq_rel)) {
    }
    return data_of(link - 1);
  }
  *bytes = kDiscardBytes;
  if (const std::uint32_t link = pop(&free_discards_); link != kNone) return data_of(link - 1);
  if (may_refuse_) {
    held_.fetch_sub(1, std::memory_order_acq_rel);
    *bytes = 0;
    return nullptr;
  }
  // All are in use: two threads write into the last one, which nobody reads but to count.
  return data_of(buffer_count_ + kDiscardBuffers - 1);
}

BufferPool::Returned BufferPool::give(std::uint8_t* data, std::size_t valid_bytes) noexcept {
  std::uint32_t index = 0;
  if (!find(data, &index)) return Returned::kForeign;
  // Whoever sees it held no more sees that it is to be read.
  const bool is_to_read = index < buffer_count_ && valid_bytes > 0;
  if (is_to_read) unread_.fetch_add(1, std::memory_order_acq_rel);
  if (index < buffer_count_) taken_[index].store(0, std::memory_order_release);
  held_.fetch_sub(1, std::memory_order_acq_rel);
  returns_.fetch_add(1, std::memory_order_relaxed);
  if (index >= buffer_count_) return Returned::kDiscarded;
  if (!is_to_read) {
    push(&free_, index);
    return Returned::kEmpty;
  }
  valid_bytes_[index].store(valid_bytes < kBufferBytes ? valid_bytes : kBufferBytes, std::memory_order_relaxed);
  push(&completed_, index);
  return Returned::kToRead;
}

bool BufferPool::is_held_since(std::uint64_t takes) const noexcept {
  for (std::uint32_t i = 0; i < used_count(); ++i) {
    const std::uint64_t taken = taken_[i].load(std::memory_order_acquire);
    if (taken != 0 && taken <= takes) return true;
  }
  return false;
}

void BufferPool::release_discarded(std::uint8_t* data, std::size_t valid_bytes) noexcept {
  std::uint32_t index = 0;
  std::memset(data, 0, valid_bytes < kDiscardBytes ? valid_bytes : kDiscardBytes);
  // The last one is never linked: it may be in several hands.
  if (find(data, &index) && index + 1 < buffer_count_ + kDiscardBuffers) push(&free_discards_, index);
}

bool BufferPool::next_to_read(Buffer* buffer) noexcept {
  if (to_read_ == kNone) {
    // Takes all that have come, which the stack has in the wrong order.
    auto link = static_cast<std::uint32_t>(completed_.exchange(0, std::memory_order_acq_rel));
    while (link != kNone) {
      const std::uint32_t following = next_[link - 1].load(std::memory_order_relaxed);
      next_[link - 1].store(to_read_, std::memory_order_relaxed);
      to_read_ = link;
      link = following;
    }
  }
  if (to_read_ == kNone) return false;
  buffer->index = to_read_ - 1;
  to_read_ = next_[buffer->index].load(std::memory_order_relaxed);
  buffer->data = data_of(buffer->index);
  buffer->valid_bytes = valid_bytes_[buffer->index].load(std::memory_order_relaxed);
  return true;
}

BufferPool::Unread BufferPool::unread_part(std::uint32_t index) const noexcept {
  const std::uint64_t seen = looked_[index].load(std::memory_order_acquire);
  const std::uint64_t cleared = cleared_.load(std::memory_order_acquire);
  std::size_t skipped = static_cast<std::uint32_t>(seen);
  if (cleared >> 32 == index && static_cast<std::uint32_t>(cleared) > skipped)
    skipped = static_cast<std::uint32_t>(cleared);
  return {data_of(index) + skipped, kBufferBytes - skipped, index, seen};
}

void BufferPool::note_looked(const Unread& part, std::size_t bytes) noexcept {
  const auto end = static_cast<std::uint64_t>(part.data - data_of(part.index)) + bytes;
  std::uint64_t seen = part.seen;
  looked_[part.index].compare_exchange_strong(seen, (seen & ~(kTag - 1)) | end, std::memory_order_acq_rel);
}

void BufferPool::recycle(const Buffer& buffer, std::size_t cleared_bytes) noexcept {
  std::memset(buffer.data + cleared_bytes, 0, buffer.valid_bytes - cleared_bytes);
  note_cleared(buffer, 0);
  const std::uint64_t looked = looked_[buffer.index].load(std::memory_order_relaxed);
  looked_[buffer.index].store((looked & ~(kTag - 1)) + kTag, std::memory_order_release);
  unread_.fetch_sub(1, std::memory_order_acq_rel);
  push(&free_, buffer.index);
}

}  // namespace jaxprof::cupti
