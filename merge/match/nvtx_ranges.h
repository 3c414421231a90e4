// NVTX events to ranges. A push and its pop are brought together by thread, domain and depth, and after a loss the
// thread tells how far its ranges had closed meanwhile, so that an event that was lost (full ring, killed process)
// costs its own range and never shifts the ones around it. Starts and ends meet by id, over threads. A range whose end
// never came stays, with no end.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/spool/event_codec.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof::match {

inline constexpr std::size_t kNoRange = std::numeric_limits<std::size_t>::max();

enum class RangeKind { kPushPop, kStartEnd, kMark };

// Stamps are in ticks of the process's event clock.
struct NvtxRange {
  RangeKind kind = RangeKind::kPushPop;
  std::uint32_t thread = 0;
  std::uint32_t domain = 0;
  std::uint32_t category = 0;
  spool::StringId message = spool::kNoString;
  std::uint16_t depth = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool has_end = false;
  std::uint64_t ended_by = UINT64_MAX;  // without an end: the thread's events say that it had ended by then
  std::size_t parent = kNoRange;        // the push-pop range around it on its thread and domain
  std::int32_t payload_type = 0;        // NVTX_PAYLOAD_TYPE_*; 0: none
  std::uint64_t payload = 0;            // its bits
  std::uint64_t step = 0;               // 1 + the ordinal of the step that it is; 0: it is none
  std::uint64_t call_ordinal = 0;  // NCCL's: 1 + the calls before it of its function, communicator and peer; 0: unknown
  // Payloads by schema (spool::PayloadHeader, read by payload.h), as long as the trace lives.
  std::span<const std::uint8_t> start_payload;
  std::span<const std::uint8_t> end_payload;
};

struct NvtxRanges {
  std::vector<NvtxRange> ranges;  // in the order of their starts within each thread
  std::uint64_t never_ended = 0;
  std::uint64_t ends_without_start = 0;
};

// Takes events one by one, in the order in which each thread wrote them.
class NvtxRangeBuilder {
 public:
  void add(std::uint32_t thread, const spool::Event& event);
  NvtxRanges finish() &&;

 private:
  using Stack = std::vector<std::size_t>;  // by depth: the open range, or kNoRange where its push was lost

  static NvtxRange begin(RangeKind kind, std::uint32_t thread, const spool::Event& event);
  // The open ranges, less those whose pops the thread says were lost (nvtx_field::kPopUnseenEnds), at `stamp`.
  Stack& stack_of(std::uint32_t thread, std::uint32_t domain, std::uint64_t unseen_ends, std::uint64_t stamp);
  // Ranges as deep as `depth` or deeper had ended by `stamp`.
  void unwind(Stack& stack, std::uint64_t depth, std::uint64_t stamp);
  static std::size_t innermost(const Stack& stack);
  void end_range(std::size_t index, const spool::Event& event);

  std::vector<NvtxRange> ranges_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Stack> stacks_;  // by thread and domain
  std::pair<std::uint32_t, std::uint32_t> last_place_;               // thread and domain
  Stack* last_stack_ = nullptr;                                      // theirs
  std::unordered_map<std::uint64_t, std::size_t> started_;           // by range id
  std::unordered_map<std::uint64_t, spool::Event> early_ends_;       // seen before their start, by range id
  std::uint64_t ends_without_start_ = 0;
};

}  // namespace jaxprof::match
