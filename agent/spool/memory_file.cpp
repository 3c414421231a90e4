#include "agent/spool/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>

#include "agent/base/clocks.h"
#include "agent/base/file_size_limit.h"
#include "agent/base/text.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::spool {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::int64_t kRestNs = 1'000'000'000;

constexpr std::uint64_t round_to_page(std::uint64_t bytes) noexcept {
  return (bytes + kPage - 1) & ~(kPage - 1);
}

void* allocate_and_map(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (!is_file_size_allowed(offset + bytes)) return nullptr;
  const int failure = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (failure != 0) {
    errno = failure;
    return nullptr;
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

static_assert(std::atomic<SegmentKind>::is_always_lock_free);

bool MemoryFile::create(const char* path, std::uint32_t pid) noexcept {
  TextBuffer own_path(path_, sizeof path_);
  own_path.append(path);
  const UniqueFd fd(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd || own_path.is_truncated()) return false;
  const std::uint64_t bytes = round_to_page(sizeof(MemoryHeader));
  auto* header = static_cast<MemoryHeader*>(allocate_and_map(fd.get(), 0, bytes));
  if (header == nullptr) return false;
  std::memcpy(header->magic, kMemoryMagic, sizeof kMemoryMagic);
  header->version = 2;
  header->pid = pid;
  header_ = header;
  identity_ = FileIdentity::of(fd.get());
  file_bytes_ = bytes;
  return true;
}

void* MemoryFile::add_segment(SegmentKind kind, std::uint64_t bytes) noexcept {
  if (header_ == nullptr) return nullptr;
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
  if (now_ns < resting_until_ns_) {
    errno = ENOSPC;
    return nullptr;
  }
  void* segment = grow(kind, bytes);
  if (segment == nullptr) resting_until_ns_ = now_ns + kRestNs;
  return segment;
}

void* MemoryFile::grow(SegmentKind kind, std::uint64_t bytes) noexcept {
  const std::uint32_t index = header_->segment_count.load(std::memory_order_relaxed);
  if (index >= kMaxSegments) return nullptr;
  const UniqueFd fd(open(path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd || FileIdentity::of(fd.get()) != identity_) return nullptr;
  const std::uint64_t length = round_to_page(bytes);
  void* memory = allocate_and_map(fd.get(), file_bytes_, length);
  if (memory == nullptr) return nullptr;
  SegmentEntry& entry = header_->segments[index];
  entry.offset = file_bytes_;
  entry.bytes = length;
  entry.kind.store(kind, std::memory_order_release);
  header_->segment_count.store(index + 1, std::memory_order_release);
  file_bytes_ += length;
  return memory;
}

}  // namespace jaxprof::spool
