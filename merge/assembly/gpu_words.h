// CUPTI's numbers as the run file's words (cupti_activity.h). A number without a word here is "unknown".
#pragma once

#include <cstdint>

#include "agent/spool/state_record.h"
#include "merge/runfile/enums.h"

namespace jaxprof::assembly {

runfile::MemopKind memop_kind_of(std::uint32_t cupti);        // CUpti_ActivityMemcpyKind
runfile::MemoryKind memory_kind_of(std::uint32_t cupti);      // CUpti_ActivityMemoryKind
runfile::OverheadKind overhead_kind_of(std::uint32_t cupti);  // CUpti_ActivityOverheadKind
runfile::SyncKind sync_kind_of(std::uint32_t cupti);          // CUpti_ActivitySynchronizationType
runfile::WindowCause window_cause_of(std::uint32_t cause);    // spool::WindowCause
runfile::GpuMode gpu_mode_of(std::uint32_t mode);             // GpuMode of contract/session_page.h

}  // namespace jaxprof::assembly
