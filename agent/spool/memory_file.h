// A process's memory file: where its threads write before anything reaches the disk. It is mapped shared, so that what
// a process wrote is still there after it was killed, and whoever can open the file (the task's wrapper) can save it.
// It grows by segments of one kind each: a registration log (state records, append-only) or a thread's ring. Every
// segment is allocated on the file system before it is mapped, because a hole on a full disk would be SIGBUS in the
// user's process. Agent-safe; layout shared by agent and wrapper of one build.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/base/file_identity.h"

namespace jaxprof::spool {

inline constexpr std::uint32_t kMaxSegments = 2048;
inline constexpr char kMemoryMagic[8] = "JXRINGS";

enum class SegmentKind : std::uint32_t { kNone = 0, kStateLog = 1, kRing = 2 };

struct SegmentEntry {
  std::atomic<SegmentKind> kind;  // stored last
  std::uint32_t reserved;
  std::uint64_t offset;  // of the segment in the file
  std::uint64_t bytes;
};

struct MemoryHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t pid;
  std::atomic<std::uint32_t> segment_count;
  std::uint32_t reserved;
  SegmentEntry segments[kMaxSegments];
};

// A registration log: records from `data` on, `committed` bytes of them whole, the first `written` of them in the
// spool.
struct StateLogHeader {
  std::atomic<std::uint64_t> committed;
  std::atomic<std::uint64_t> written;
  std::uint64_t reserved[6];
};
static_assert(sizeof(StateLogHeader) == 64);

enum class RingState : std::uint32_t { kFree = 0, kActive = 1, kClosed = 2 };

// A single-producer, single-consumer ring of EventHeader records. Positions count bytes since the ring was made. Most
// threads write little, and pages of a ring that were never touched are no memory: so a ring begins with a small region
// and goes on in the large one behind it once its thread has filled it, or fills it often. It never goes back. A
// record lies at position % capacity of its region and never wraps: kPadding fills what is left at the end.
struct RingHeader {
  std::atomic<std::uint64_t> head;  // written by the producer, release
  std::uint8_t pad0[56];
  std::atomic<std::uint64_t> tail;  // written by the consumer, release
  std::uint8_t pad1[56];
  std::atomic<RingState> state;
  std::atomic<std::uint32_t> thread;    // ThreadState::thread of the present owner
  std::uint64_t capacity;               // bytes of the large region; a power of two
  std::uint64_t small_capacity;         // bytes of the small region; a power of two, 0: there is none
  std::atomic<std::uint64_t> grown_at;  // positions from here on are in the large region; kNotGrown: none are yet
  std::uint64_t reserved[4];
};
static_assert(sizeof(RingHeader) == 192);
inline constexpr std::uint64_t kNotGrown = UINT64_MAX;

constexpr std::uint64_t ring_segment_bytes(std::uint64_t small_capacity, std::uint64_t capacity) noexcept {
  return sizeof(RingHeader) + small_capacity + capacity;
}

// Where the record at `position` lies, from the ring's data on. `position` is below a head that was read, by either
// side.
inline std::uint64_t ring_offset(const RingHeader* ring, std::uint64_t position) noexcept {
  if (position < ring->grown_at.load(std::memory_order_relaxed)) return position & (ring->small_capacity - 1);
  return ring->small_capacity + (position & (ring->capacity - 1));
}

inline std::uint8_t* segment_data(StateLogHeader* log) noexcept {
  return reinterpret_cast<std::uint8_t*>(log + 1);
}
inline std::uint8_t* segment_data(RingHeader* ring) noexcept {
  return reinterpret_cast<std::uint8_t*>(ring + 1);
}

// The writing side. It keeps no descriptor: the program may close any, and would give the number to a file of its own,
// which a later segment must not land in. Not thread-safe: the session serialises growth.
class MemoryFile {
 public:
  // Creates the file at `path`; false with errno.
  bool create(const char* path, std::uint32_t pid) noexcept;
  // Allocates and maps one more segment of `bytes` zeros, of which no page is memory until it is touched; null with
  // errno when the disk or the table is full, or the file is gone. After a failure it is not tried again for a second:
  // a full disk must not cost every event a try.
  void* add_segment(SegmentKind kind, std::uint64_t bytes) noexcept;
  bool is_open() const noexcept { return header_ != nullptr; }

 private:
  void* grow(SegmentKind kind, std::uint64_t bytes) noexcept;

  char path_[1152] = {};
  FileIdentity identity_;
  MemoryHeader* header_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  std::int64_t resting_until_ns_ = 0;  // CLOCK_MONOTONIC_COARSE
};

}  // namespace jaxprof::spool
