// What the callbacks of all versions of NCCL's profiler interface have in common: an event is copied, with a stamp and
// a number that is its handle, into the calling thread's ring. While the window is closed events get a handle that says
// so and leave no trace, nor a ring. NCCL calls from the user's thread, its launching thread, CUDA's callback thread
// and its proxy thread, all at once, and after finalize as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/spool/event_record.h"

namespace jaxprof::nccl {

// The fields that all starts begin with: handle, communicator, parent.
inline constexpr std::size_t kCommonFields = 3;

// An event's start, the same for all versions. `fields` are those of spool::nccl_field behind the common ones.
struct Description {
  spool::NcclEvent event = spool::NcclEvent::kGroup;
  std::uint64_t parent = 0;  // a handle's number, 0: none
  std::size_t field_count = kCommonFields;
  std::uint64_t fields[spool::kMaxFields] = {};

  void set(std::size_t field, std::uint64_t value) noexcept {
    fields[field] = value;
    if (field >= field_count) field_count = field + 1;
  }
  // For fields that few calls have: at the end, a missing one reads as 0.
  void set_unless_zero(std::size_t field, std::uint64_t value) noexcept {
    if (value != 0) set(field, value);
  }
};

// The number of a handle that NCCL passed back, 0 for one of an event that was not recorded; one that is not this
// process's is counted and becomes 0.
std::uint64_t own_number(const void* handle) noexcept;

// Should an event of this type, which starts now, be recorded?
bool wants(spool::NcclEvent event) noexcept;

// Writes the start; the result is its handle, never null.
void* start(const void* context, const Description& description, std::uint64_t stamp) noexcept;
// The handle of an event that starts while it is not wanted, never null.
void* start_unrecorded() noexcept;

// The callbacks that are alike in all versions. Always 0, for success.
int stop_event(void* handle) noexcept;
int record_event_state(void* handle, int state, void* arguments) noexcept;

}  // namespace jaxprof::nccl
