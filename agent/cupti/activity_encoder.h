// Turns CUPTI's records into events of a kActivities block: some two hundred bytes into less than twenty. What repeats
// is registered once and referred to by number: the kernel's name, the stream it ran on, how it was launched. Fields
// that a record is too short for, or of a kind that is not known, are not made up. Drain thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/cupti/api_calls.h"
#include "agent/cupti/captured_calls.h"
#include "agent/cupti/kept_spans.h"
#include "agent/cupti/kernel_names.h"
#include "agent/cupti/launch_configs.h"
#include "agent/cupti/launch_ledger.h"
#include "agent/cupti/number_table.h"
#include "agent/cupti/record_layout.h"
#include "agent/cupti/resource_records.h"
#include "agent/spool/event_codec.h"

namespace jaxprof::cupti {

class ActivityEncoder {
 public:
  using CallbackName = abi::Result (*)(abi::Domain, std::uint32_t, const char**);

  // `names` asks CUPTI for a call's name. False without memory.
  bool open(CallbackName names, const KeptSpans* spans) noexcept;

  // Encodes `record` into `out`, which has room, or counts it. True if it became an event.
  bool add(std::uint32_t kind, const Record& record, spool::EventEncoder* out) noexcept;

  // Where records of between the windows come too: whether `record` is a call inside one, whose work is kept whenever
  // it runs. Before any record of its buffer is added.
  bool leaves_out_others() const noexcept { return spans_->leaves_out_others(); }
  void note_call(std::uint32_t kind, const Record& record) noexcept;

  KernelNames& kernel_names() noexcept { return names_; }
  LaunchLedger& ledger() noexcept { return ledger_; }
  CapturedCalls& captured_calls() noexcept { return captured_; }

 private:
  struct Times {
    std::uint64_t start_ns;
    std::uint64_t end_ns;
  };
  struct LaneKey {
    std::uint32_t device, context, stream;
  };

  // A job has a few busy streams.
  struct RecentLane {
    LaneKey key;
    std::uint32_t is_known;
    spool::MadeVarint lane;
  };
  static constexpr std::uint32_t kRecentLanes = 64;
  RecentLane& recent_lane(const LaneKey& key) noexcept {
    return recent_lanes_[(key.stream + 8 * key.device) % kRecentLanes];
  }

  bool add_kernel(const Record& record, spool::EventEncoder* out) noexcept;
  bool encode_kernel(const Record& record, spool::EventEncoder* out) noexcept;
  bool add_memcpy(const Record& record, bool is_peer, spool::EventEncoder* out) noexcept;
  bool add_memset(const Record& record, spool::EventEncoder* out) noexcept;
  bool add_graph(const Record& record, spool::EventEncoder* out) noexcept;
  bool add_api(const Record& record, bool is_runtime, spool::EventEncoder* out) noexcept;
  bool add_overhead(const Record& record, spool::EventEncoder* out) noexcept;
  bool add_synchronization(const Record& record, spool::EventEncoder* out) noexcept;
  bool add_event(const Record& record, spool::EventEncoder* out) noexcept;
  bool add_external(const Record& record, spool::EventEncoder* out) noexcept;

  // False if the record is of between two windows. Counts those without times.
  bool take_times(const Record& record, U64 start, U64 end, Times* times, std::uint32_t correlation = 0) noexcept;
  spool::MadeVarint lane_of(std::uint32_t device, std::uint32_t context, std::uint32_t stream) noexcept {
    const LaneKey key{device, context, stream};
    const RecentLane& recent = recent_lane(key);
    const bool is_known = (device == recent.key.device) & (context == recent.key.context) &
                          (stream == recent.key.stream) & (recent.is_known != 0);
    return is_known ? recent.lane : look_lane(key);
  }
  spool::MadeVarint look_lane(const LaneKey& key) noexcept;
  // A call that is to be followed by the record of its work, and when it was.
  bool starts_work(const Record& call, const ApiSet& set, std::uint64_t start_ns, std::uint64_t end_ns) const noexcept;
  void name_api(std::uint32_t id, bool is_runtime) noexcept;

  CallbackName callback_name_ = nullptr;
  const KeptSpans* spans_ = nullptr;
  KernelNames names_;
  LaunchLedger ledger_;
  CapturedCalls captured_;
  NumberTable<LaneKey, 1U << 14> lanes_;
  RecentLane recent_lanes_[kRecentLanes] = {};
  LaunchConfigs configs_;
  ResourceRecords resources_;
  ApiSet driver_;
  ApiSet runtime_;
};

}  // namespace jaxprof::cupti
