#include "agent/collect/limits.h"

#include "agent/base/disk_room.h"

namespace jaxprof::collect {

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
    case StopReason::kNone:
      break;
  }
  return spool::FooterReason::kExit;
}

}  // namespace jaxprof::collect
