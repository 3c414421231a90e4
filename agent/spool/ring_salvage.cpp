#include "agent/spool/ring_salvage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "agent/base/text.h"
#include "agent/base/unique_fd.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/memory_file.h"
#include "agent/spool/spool_reader.h"
#include "agent/spool/spool_writer.h"
#include "agent/spool/state_record.h"

namespace jaxprof::spool {
namespace {

constexpr std::size_t kPayloadBytes = 256 << 10;

// A dead process's memory file, read-only. Segments that do not lie in the file are left out.
class MemoryImage {
 public:
  static Result<MemoryImage> open(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return fail_errno(ErrorCode::kInputUnreadable, "cannot open " + path);
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot examine " + path);
    MemoryImage image;
    image.size_ = static_cast<std::uint64_t>(status.st_size);
    if (image.size_ < sizeof(MemoryHeader)) {
      return fail(ErrorCode::kInputUnreadable, path + " is shorter than a memory file's header");
    }
    void* memory = mmap(nullptr, image.size_, PROT_READ, MAP_SHARED, fd.get(), 0);
    if (memory == MAP_FAILED) return fail_errno(ErrorCode::kInputUnreadable, "cannot map " + path);
    image.bytes_ = static_cast<std::uint8_t*>(memory);
    if (std::memcmp(image.header().magic, kMemoryMagic, sizeof kMemoryMagic) != 0) {
      return fail(ErrorCode::kInputUnreadable, path + " is no memory file");
    }
    return image;
  }
  MemoryImage(MemoryImage&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MemoryImage& operator=(MemoryImage&&) = delete;
  ~MemoryImage() {
    if (bytes_ != nullptr) munmap(bytes_, size_);
  }

  // Calls visit(segment, bytes) for each segment of `kind` that is whole.
  template <typename Visit>
  void for_each(SegmentKind kind, Visit&& visit) const {
    const std::uint32_t count = std::min(header().segment_count.load(std::memory_order_acquire), kMaxSegments);
    for (std::uint32_t i = 0; i < count; ++i) {
      const SegmentEntry& entry = header().segments[i];
      if (entry.kind.load(std::memory_order_acquire) != kind) continue;
      if (entry.offset % 8 != 0 || entry.offset > size_ || entry.bytes > size_ - entry.offset) continue;
      visit(bytes_ + entry.offset, entry.bytes);
    }
  }

 private:
  MemoryImage() = default;
  const MemoryHeader& header() const { return *reinterpret_cast<const MemoryHeader*>(bytes_); }

  std::uint8_t* bytes_ = nullptr;
  std::uint64_t size_ = 0;
};

class Appender {
 public:
  explicit Appender(SpoolWriter* writer)
      : writer_(writer), buffer_(SpoolWriter::kHeadroom + kPayloadBytes), encoder_(payload(), kPayloadBytes) {}

  // Registrations from where the drain thread had come to.
  void append_state(const std::uint8_t* segment, std::uint64_t bytes) {
    if (bytes < sizeof(StateLogHeader)) return;
    const auto* log = reinterpret_cast<const StateLogHeader*>(segment);
    const std::uint8_t* data = segment + sizeof(StateLogHeader);
    const std::uint64_t end = std::min(log->committed.load(std::memory_order_acquire), bytes - sizeof(StateLogHeader));
    std::uint64_t at = log->written.load(std::memory_order_acquire);
    std::size_t size = 0;
    while (at <= end && end - at >= sizeof(StateHeader)) {
      StateHeader header{};
      std::memcpy(&header, data + at, sizeof header);
      if (header.bytes < sizeof header || header.bytes % 8 != 0 || header.bytes > end - at ||
          header.bytes > kPayloadBytes) {
        break;
      }
      if (size + header.bytes > kPayloadBytes) {
        write(BlockKind::kState, std::exchange(size, 0));
      }
      std::memcpy(payload() + size, data + at, header.bytes);
      size += header.bytes;
      at += header.bytes;
      salvage_.state_bytes += header.bytes;
    }
    if (size > 0) write(BlockKind::kState, size);
  }

  // Events that were committed and not drained.
  void append_events(const std::uint8_t* segment, std::uint64_t bytes) {
    if (bytes < sizeof(RingHeader)) return;
    const auto* ring = reinterpret_cast<const RingHeader*>(segment);
    const std::uint64_t head = ring->head.load(std::memory_order_acquire);
    std::uint64_t tail = ring->tail.load(std::memory_order_acquire);
    if (!is_sane(*ring, bytes) || head - tail > ring->capacity || head % 8 != 0 || tail % 8 != 0) {
      if (head != tail) ++salvage_.damaged_rings;
      return;
    }
    const std::uint8_t* data = segment + sizeof(RingHeader);
    const std::uint64_t data_bytes = ring->small_capacity + ring->capacity;
    const std::uint32_t thread = ring->thread.load(std::memory_order_relaxed);
    bool is_open = false;
    while (tail != head) {
      const std::uint64_t at = ring_offset(ring, tail);
      const std::uint64_t region_end = at < ring->small_capacity ? ring->small_capacity : data_bytes;
      EventHeader header{};
      std::memcpy(&header, data + at, 8);  // a padding record may be no longer than this
      const bool is_padding = header.kind == static_cast<std::uint8_t>(EventKind::kPadding);
      const bool fits = header.bytes >= 8 && header.bytes % 8 == 0 && header.bytes <= kMaxEventBytes &&
                        header.bytes <= region_end - at && header.bytes <= head - tail;
      if (!fits || (!is_padding && header.bytes < sizeof header + 8 * header.field_count)) {
        ++salvage_.damaged_rings;
        break;
      }
      if (!is_padding) {
        const auto* record = reinterpret_cast<const EventHeader*>(data + at);
        if (!is_open) encoder_.begin(thread, record->stamp);
        is_open = true;
        encoder_.add(*record);
        if (!encoder_.has_room()) {
          write_events();
          is_open = false;
        }
      }
      tail += header.bytes;
    }
    if (is_open) write_events();
  }

  void append_anchor(ClockId clock) {
    const AnchorRecord record = take_anchor_record(clock);
    std::memcpy(payload(), &record, sizeof record);
    write(BlockKind::kAnchors, sizeof record);
  }

  void append_footer(FooterReason reason, std::span<const CounterRecord> counters, std::uint64_t events_written,
                     std::int64_t realtime_ns) {
    FooterRecord footer{};
    footer.reason = static_cast<std::uint32_t>(reason);
    footer.counter_count = static_cast<std::uint32_t>(counters.size());
    footer.events = events_written + salvage_.events;
    footer.blocks = writer_->blocks();
    footer.realtime_ns = static_cast<std::uint64_t>(realtime_ns);
    std::memcpy(payload(), &footer, sizeof footer);
    if (!counters.empty()) std::memcpy(payload() + sizeof footer, counters.data(), counters.size_bytes());
    write(BlockKind::kFooter, sizeof footer + counters.size_bytes());
  }

  const Salvage& salvage() const { return salvage_; }

 private:
  // Its regions are such as a ring has, and lie in its segment of `bytes`.
  static bool is_sane(const RingHeader& ring, std::uint64_t bytes) {
    const std::uint64_t room = bytes - sizeof ring;
    const std::uint64_t small = ring.small_capacity;
    const std::uint64_t large = ring.capacity;
    return large >= kMaxEventBytes && (large & (large - 1)) == 0 && (small & (small - 1)) == 0 && small % 8 == 0 &&
           large <= room && small <= room - large && (small != 0 || ring.grown_at.load() == 0);
  }

  std::uint8_t* payload() { return buffer_.data() + SpoolWriter::kHeadroom; }
  void write(BlockKind kind, std::size_t bytes) { writer_->write_block(kind, buffer_.data(), bytes); }
  void write_events() {
    write(BlockKind::kEvents, encoder_.size());
    salvage_.events += encoder_.event_count();
  }

  SpoolWriter* writer_;
  std::vector<std::uint8_t> buffer_;
  EventEncoder encoder_;
  Salvage salvage_;
};

// Where the spool's valid blocks end, and what its identity says of the clock.
struct SpoolEnd {
  std::uint64_t bytes = 0;
  std::uint32_t next_sequence = 0;
  ClockId clock = ClockId::kMonotonicRaw;
  bool has_footer = false;
};

// While rings are being saved, a note beside the spool says where its own end was. Whoever is killed on the way, or
// finds the disk full, leaves the note, and the next one begins again from there instead of appending the same events
// twice.
class SavingNote {
 public:
  explicit SavingNote(const std::string& spool_path) : path_(spool_path + ".saving"), spool_path_(spool_path) {}

  // Cuts off what an earlier attempt appended.
  Status undo_earlier_attempt() const {
    const auto text = read_small_file(path_);
    if (!text) return {};
    std::uint64_t bytes = 0;
    struct stat status {};
    const bool is_usable = parse_decimal(text->c_str(), &bytes) && stat(spool_path_.c_str(), &status) == 0 &&
                           bytes <= static_cast<std::uint64_t>(status.st_size);
    if (is_usable && truncate(spool_path_.c_str(), static_cast<off_t>(bytes)) == 0) return {};
    return fail(ErrorCode::kOutputFailed,
                "cannot cut " + spool_path_ + " back to " + *text + " bytes, as " + path_ + " says");
  }
  Status write(std::uint64_t spool_bytes) const {
    auto written = write_atomic_file(path_, std::to_string(spool_bytes), Publish::kReplace);
    if (!written) return tl::unexpected(std::move(written.error()));
    return {};
  }
  void remove() const { unlink(path_.c_str()); }

 private:
  std::string path_;
  const std::string& spool_path_;
};

Result<SpoolEnd> find_end(const std::string& path) {
  auto reader = SpoolReader::open(path);
  if (!reader) return tl::unexpected(std::move(reader.error()));
  SpoolEnd end;
  Block block;
  while (reader->next(&block)) {
    if (block.kind == BlockKind::kIdentity) {
      const std::int64_t clock = SpoolIdentity::parse(block.payload).number(IdentityKey::kEventClock);
      if (clock > 0) end.clock = static_cast<ClockId>(clock);
    }
    end.next_sequence = block.sequence + 1;
  }
  end.has_footer = reader->health().has_footer;
  end.bytes = reader->health().file_bytes - reader->health().torn_tail_bytes;
  return end;
}

}  // namespace

Result<Salvage> salvage_rings(const std::string& memory_path, const std::string& spool_path,
                              std::span<const CounterRecord> counters, std::uint64_t events_written,
                              std::optional<std::int64_t> ended_realtime_ns, FooterReason reason) {
  const SavingNote note(spool_path);
  auto end = find_end(spool_path);
  if (end && !end->has_footer) {
    if (auto undone = note.undo_earlier_attempt(); !undone) return tl::unexpected(std::move(undone.error()));
    end = find_end(spool_path);
  }
  if (!end) return tl::unexpected(end.error());
  if (end->has_footer) {
    note.remove();
    Salvage nothing;
    nothing.was_complete = true;
    return nothing;
  }
  const auto image = MemoryImage::open(memory_path);
  if (!image) return tl::unexpected(image.error());
  if (auto noted = note.write(end->bytes); !noted) return tl::unexpected(std::move(noted.error()));
  SpoolWriter writer;
  if (!writer.resume(spool_path.c_str(), end->bytes, end->next_sequence)) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot append to " + spool_path);
  }
  Appender appender(&writer);
  image->for_each(SegmentKind::kStateLog,
                  [&](const std::uint8_t* segment, std::uint64_t bytes) { appender.append_state(segment, bytes); });
  image->for_each(SegmentKind::kRing,
                  [&](const std::uint8_t* segment, std::uint64_t bytes) { appender.append_events(segment, bytes); });
  if (!ended_realtime_ns) appender.append_anchor(end->clock);
  appender.append_footer(reason, counters, events_written, ended_realtime_ns.value_or(clock_ns(CLOCK_REALTIME)));
  if (writer.has_failed()) {
    errno = writer.failure();
    return fail_errno(ErrorCode::kOutputFailed, "cannot append what was saved to " + spool_path);
  }
  note.remove();
  return appender.salvage();
}

}  // namespace jaxprof::spool
