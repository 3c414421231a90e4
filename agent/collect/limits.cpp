#include "agent/collect/limits.h"

#include <errno.h>

#include "agent/base/disk_room.h"
#include "agent/base/text.h"

namespace jaxprof::collect {
namespace {

// strerror(3) would give the program's language.
void append_cause(TextBuffer* text, int error) noexcept {
  switch (error) {
    case ENOSPC:
      return text->append("No space left on device");
    case EDQUOT:
      return text->append("Disk quota exceeded");
    case EFBIG:
      return text->append("File too large");
    case EIO:
      return text->append("Input/output error");
    case EBADF:
      return text->append("its descriptor is another file's by now");
    default:
      text->append("errno ");
      text->append_number(static_cast<std::uint64_t>(error));
  }
}

}  // namespace

void count_spool_bytes(SessionPage* page, std::uint64_t bytes) noexcept {
  const std::uint64_t sum = page->spool_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const std::uint64_t limit = page->plan.spool_limit_bytes;
  if (limit != 0 && sum >= limit) stop_recording(page, StopReason::kSpoolLimit);
}

void check_disk(SessionPage* page, int fd) noexcept {
  if (const auto room = disk_room_of(fd); room && room->is_at_reserve()) {
    stop_recording(page, StopReason::kDiskReserve);
  }
}

void stop_for_write_failure(SessionPage* page, ProcessSlot* slot, int error) noexcept {
  TextBuffer note(slot->note, sizeof slot->note);
  note.append("its spool could not be written (");
  append_cause(&note, error);
  note.append(")");
  // What was lost may be nothing that counts itself, such as the time of a clock.
  std::uint64_t none = 0;
  slot->drops[static_cast<int>(Drop::kSpoolWriteFailed)].compare_exchange_strong(none, 1, std::memory_order_relaxed);
  stop_recording(page, StopReason::kWriteFailed);
}

StopReason find_stop(SessionPage* page) noexcept {
  if (const auto room = disk_room_of(page->plan.spool_directory); room && room->is_at_reserve()) {
    stop_recording(page, StopReason::kDiskReserve);
  }
  return page->stop.load(std::memory_order_acquire);
}

spool::FooterReason footer_reason(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::kDeadline:
      return spool::FooterReason::kDeadline;
    case StopReason::kSpoolLimit:
      return spool::FooterReason::kSpoolLimit;
    case StopReason::kDiskReserve:
      return spool::FooterReason::kDiskReserve;
    case StopReason::kWriteFailed:
      return spool::FooterReason::kWriteFailed;
    case StopReason::kNone:
      break;
  }
  return spool::FooterReason::kExit;
}

}  // namespace jaxprof::collect
