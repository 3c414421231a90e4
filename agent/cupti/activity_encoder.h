// Turns CUPTI's records into events of a kActivities block: some two hundred bytes into less than twenty. What repeats
// is registered once and referred to by number: the kernel's name, the stream it ran on, how it was launched. Fields
// that a record is too short for, or of a kind that is not known, are not made up. Drain thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/cupti/api_calls.h"
#include "agent/cupti/captured_calls.h"
#include "agent/cupti/graph_launches.h"
#include "agent/cupti/kept_spans.h"
#include "agent/cupti/kernel_names.h"
#include "agent/cupti/lanes.h"
#include "agent/cupti/launch_configs.h"
#include "agent/cupti/launch_ledger.h"
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
  GraphLaunches& graph_launches() noexcept { return graph_launches_; }
  CapturedCalls& captured_calls() noexcept { return captured_; }

 private:
  struct Times {
    std::uint64_t start_ns;
    std::uint64_t end_ns;
  };

  bool add_any(std::uint32_t kind, const Record& record, spool::EventEncoder* out) noexcept;
  bool add_kernel(Record record, spool::EventEncoder* out) noexcept;
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
  // A call that is to be followed by the record of its work, and when it was.
  bool starts_work(const Record& call, const ApiSet& set, std::uint64_t start_ns, std::uint64_t end_ns) const noexcept;
  void name_api(std::uint32_t id, bool is_runtime) noexcept;

  CallbackName callback_name_ = nullptr;
  const KeptSpans* spans_ = nullptr;
  KernelNames names_;
  LaunchLedger ledger_;
  GraphLaunches graph_launches_;
  CapturedCalls captured_;
  Lanes lanes_;
  LaunchConfigs configs_;
  ResourceRecords resources_;
  ApiSet driver_;
  ApiSet runtime_;
};

// Signed, since CUPTI has been seen to give an end before a start.
inline std::uint64_t folded_duration(std::uint64_t start_ns, std::uint64_t end_ns) noexcept {
  return spool::fold_sign(static_cast<std::int64_t>(end_ns - start_ns));
}

inline bool ActivityEncoder::take_times(const Record& record, U64 start, U64 end, Times* times,
                                        std::uint32_t correlation) noexcept {
  *times = {record.get(start), record.get(end)};
  if (times->start_ns == 0 || times->end_ns == 0) [[unlikely]] {
    collect::count_drop(Drop::kGpuWithoutTime);
    *times = {0, 0};
    return true;
  }
  return spans_->keeps(times->start_ns, times->end_ns) || ledger_.has_call(correlation);
}

// Almost all records are kernels, so this is what a record costs.
__attribute__((always_inline)) inline bool ActivityEncoder::add_kernel(Record record,
                                                                       spool::EventEncoder* out) noexcept {
  using namespace kernel_record;
  Times times;
  const std::uint32_t correlation = record.get(kCorrelation);
  const std::uint32_t graph = record.get(kGraph);
  ledger_.add_work(correlation);
  graph_launches_.add_work(graph, correlation);
  if (!take_times(record, kStart, kEnd, &times, correlation)) return false;
  const char* name = record.get(kName);
  out->add({.name = names_.number_of(name, times.start_ns),
            .lane = lanes_.number_of(record.get(kDevice), record.get(kContext), record.get(kStream)),
            .config = configs_.number_of(record, KernelNames::hash_of(name)),
            .start_ns = times.start_ns,
            .duration = folded_duration(times.start_ns, times.end_ns),
            .correlation = correlation,
            .graph = graph,
            .graph_node = record.get(kGraphNode),
            .channel = record.get(kChannel)});
  return true;
}

// And almost all kernels have all fields: that need not be asked for each.
__attribute__((always_inline)) inline bool ActivityEncoder::add(std::uint32_t kind, const Record& record,
                                                                spool::EventEncoder* out) noexcept {
  if (kind == abi::kConcurrentKernel && record.bytes >= kernel_record::kKnownBytes) [[likely]]
    return add_kernel({record.at, kernel_record::kKnownBytes}, out);
  return add_any(kind, record, out);
}

}  // namespace jaxprof::cupti
