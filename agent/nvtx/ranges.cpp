#include "agent/nvtx/ranges.h"

#include "agent/collect/event_sink.h"
#include "agent/nvtx/blobs.h"
#include "agent/nvtx/content.h"
#include "agent/nvtx/domains.h"
#include "agent/nvtx/nccl_ordinals.h"
#include "agent/nvtx/registry.h"
#include "agent/nvtx/steps.h"
#include "agent/spool/event_record.h"

namespace jaxprof::nvtx {
namespace {

using collect::OpenRanges;
using collect::ThreadSink;
using spool::EventKind;

// What is known of a range that begins, beside what the program gave.
struct Begin {
  std::uint16_t domain = 0;
  std::uint16_t depth = 0;
  std::uint64_t range_or_ends = 0;  // a Start's range id or a Push's unseen ends
  std::uint64_t step = 0;           // nvtx_field::kStep
  std::uint64_t call_ordinal = 0;   // nvtx_field::kCallOrdinal
};

// Writes Push, Start or Mark; false if it was dropped. Fields at the end that are 0 are left out. This and the other
// writers are inlined by force: out of line, their arguments pass through memory, which costs 12 ns a range of 47.
[[gnu::always_inline]] inline bool write_begin(ThreadSink* sink, EventKind kind, const Begin& begin,
                                               const Attributes& attributes, std::uint64_t stamp) noexcept {
  static_assert(spool::nvtx_field::kRangeId == spool::nvtx_field::kPushUnseenEnds);
  std::uint32_t field_count = begin.range_or_ends != 0 ? 4 : attributes.payload_type != 0 ? 3 : 1;
  if (begin.step != 0) [[unlikely]]
    field_count = 5;
  if (begin.call_ordinal != 0) field_count = 6;
  Blobs blobs;
  if (attributes.blob_count > 0) [[unlikely]]
    blobs = measure(attributes.blobs, attributes.blob_count);
  std::uint64_t* fields = collect::begin(sink, kind, attributes.message, stamp, field_count, blobs.total);
  if (fields == nullptr) return false;
  fields[spool::nvtx_field::kContext] = spool::pack({begin.domain, begin.depth, attributes.category});
  if (field_count > 1) {
    fields[spool::nvtx_field::kPayloadType] = static_cast<std::uint32_t>(attributes.payload_type);
    fields[spool::nvtx_field::kPayload] = attributes.payload;
  }
  if (field_count > 3) fields[spool::nvtx_field::kRangeId] = begin.range_or_ends;
  if (field_count > 4) fields[spool::nvtx_field::kStep] = begin.step;
  if (field_count > 5) fields[spool::nvtx_field::kCallOrdinal] = begin.call_ordinal;
  if (blobs.count > 0) copy(blobs, fields + field_count);
  collect::commit(sink);
  return true;
}

// Writes Pop or End with its field and, unless it is 0, a Pop's unseen ends; false if it was dropped.
[[gnu::always_inline]] inline bool write_finish(ThreadSink* sink, EventKind kind, std::uint16_t domain,
                                                std::uint64_t field, std::uint16_t unseen_ends,
                                                const nvtxPayloadData_t* payload, std::size_t count,
                                                std::uint64_t stamp) noexcept {
  const std::uint32_t field_count = unseen_ends != 0 ? 2 : 1;
  Blobs blobs;
  if (count > 0) [[unlikely]]
    blobs = measure(payload, count);
  std::uint64_t* fields = collect::begin(sink, kind, domain, stamp, field_count, blobs.total);
  if (fields == nullptr) return false;
  fields[0] = field;
  if (unseen_ends != 0) fields[spool::nvtx_field::kPopUnseenEnds] = unseen_ends;
  if (blobs.count > 0) copy(blobs, fields + field_count);
  collect::commit(sink);
  return true;
}

// The thread calls the domain in this segment. What it has pushed there before stays without an end: of its pops
// nothing is written, since the begin may not have been either.
void enter_segment(OpenRanges* open, std::uint32_t segment, std::uint16_t depth) noexcept {
  const auto low_bits = static_cast<std::uint16_t>(segment);
  if (open->segment == low_bits) [[likely]]
    return;
  open->segment = low_bits;
  open->floor = depth;
}

[[gnu::always_inline]] inline void write_push(ThreadSink* sink, std::uint32_t segment, Begin* begin,
                                              const Attributes& attributes) noexcept {
  OpenRanges& open = sink->ranges[begin->domain];
  enter_segment(&open, segment, begin->depth);
  begin->range_or_ends = open.unseen_ends;
  if (write_begin(sink, EventKind::kNvtxPush, *begin, attributes, collect::read_stamp())) open.unseen_ends = 0;
}

// What ends a range.
struct Finish {
  std::uint64_t stamp;
  const nvtxPayloadData_t* payload;
  std::size_t count;
};

[[gnu::always_inline]] inline void write_pop(ThreadSink* sink, std::uint32_t segment, std::uint16_t domain,
                                             std::uint16_t depth, const Finish& finish) noexcept {
  OpenRanges& open = sink->ranges[domain];
  if (segment != 0) {
    enter_segment(&open, segment, static_cast<std::uint16_t>(depth + 1));
    if (depth < open.floor) {
      open.floor = depth;  // the next that is pushed here is of this segment
    } else if (write_finish(sink, EventKind::kNvtxPop, domain, depth, open.unseen_ends, finish.payload, finish.count,
                            finish.stamp)) {
      open.unseen_ends = 0;
      return;
    }
  }
  collect::note_unseen_end(&open, depth);
}

// May a range with this message be more than a range?
bool is_special(std::uint8_t uses, spool::StringId message) noexcept {
  return (uses & kIsWatched) != 0 &&
         ((uses & kIsNccl) != 0 || collect::marks_step(message) || collect::marks_window(message));
}

// A push that may be more than a range, window or not: a call of NCCL, a step, what the window is a window of. It may
// open the window, and then is in it. `attributes`: where they were read already.
[[gnu::noinline]] void push_special(ThreadSink* sink, std::uint32_t segment, std::uint8_t uses, Begin begin,
                                    const Given& from, const Attributes* known) noexcept {
  const bool is_call = (uses & kIsNccl) != 0 && (uses & kIsKept) != 0;
  Attributes attributes;
  if (known != nullptr) {
    attributes = *known;
  } else if (segment != 0 || is_call) {
    attributes = read_attributes(from);
  }
  if (is_call) begin.call_ordinal = count_nccl_call(attributes.message, attributes.blobs, attributes.blob_count);
  const Marks marks = segment != 0 ? marks_of(uses, attributes.message) : marks_of(uses, from);
  Content content;
  if (marks.is_step) begin.step = begin_pushed_step(sink, begin.domain, begin.depth);
  if (marks.is_step || marks.is_content) {
    content = begin_pushed_content(sink, begin.domain, begin.depth, marks, begin.step, from);
    const std::uint32_t before = segment;
    segment = collect::capturing_segment();
    if (before == 0 && segment != 0) attributes = read_attributes(from);
  }
  const bool is_kept = (uses & kIsKept) != 0 || begin.step != 0 || content.is_content;
  if (segment != 0 && is_kept) write_push(sink, segment, &begin, attributes);
}

// After the end: what would have been kept is counted, and true. Depths go on, for the program gets them.
bool count_begin_after_end(std::uint8_t uses, const Given& from) noexcept {
  const Marks marks = (uses & kIsKept) == 0 && (uses & kIsWatched) != 0 ? marks_of(uses, from) : Marks{};
  if ((uses & kIsKept) == 0 && !marks.is_step && !marks.is_content) return false;
  collect::count_lost();
  return true;
}

[[gnu::cold, gnu::noinline]] int push_after_end(nvtxDomainHandle_t domain_handle, const Given& from) noexcept {
  const std::uint16_t domain = domain_number(domain_handle);
  const std::uint8_t uses = uses_of(domain);
  const bool is_lost = count_begin_after_end(uses, from);
  ThreadSink* sink = collect::present_thread_sink();
  if (sink == nullptr) return -1;
  std::uint16_t& next = sink->ranges[domain].depth;
  const std::uint16_t depth = next;
  if (next < UINT16_MAX) ++next;
  const bool is_marked = is_lost && (uses & kIsKept) == 0;  // so its pop is lost as well
  if (is_marked && sink->pushed_step == collect::kNoPlace) sink->pushed_step = collect::range_place(domain, depth);
  return depth;
}

[[gnu::cold, gnu::noinline]] int pop_after_end(nvtxDomainHandle_t domain_handle) noexcept {
  const std::uint16_t domain = domain_number(domain_handle);
  const bool is_kept = (uses_of(domain) & kIsKept) != 0;
  ThreadSink* sink = collect::present_thread_sink();
  if (sink == nullptr || sink->ranges[domain].depth == 0) {
    if (is_kept) collect::count_lost();
    return -1;
  }
  const std::uint16_t depth = --sink->ranges[domain].depth;
  const std::uint32_t place = collect::range_place(domain, depth);
  if (is_kept || sink->pushed_step == place || sink->pushed_content == place) collect::count_lost();
  end_pushed_step(sink, domain, depth);
  return depth;
}

// The pop of a step, or of what the window is a window of.
[[gnu::noinline]] void pop_special(ThreadSink* sink, std::uint32_t segment, std::uint16_t domain, std::uint16_t depth,
                                   const Finish& finish) noexcept {
  const std::uint64_t mark = pop_content(sink, domain, depth);
  end_pushed_step(sink, domain, depth);
  write_pop(sink, segment, domain, depth, finish);
  if (mark != 0) end_pushed_content(mark);
}

}  // namespace

// A range begins after its attributes were read, and ends before anything else is done: our own work stays outside.
int push(nvtxDomainHandle_t domain_handle, const Given& from) noexcept {
  const std::uint32_t segment = collect::segment_or_over();
  if (segment == collect::kOver) [[unlikely]]
    return push_after_end(domain_handle, from);
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) [[unlikely]]
    return -1;
  Begin begin;
  begin.domain = domain_number(domain_handle);
  OpenRanges& open = sink->ranges[begin.domain];
  begin.depth = open.depth;
  if (open.depth < UINT16_MAX) open.depth = static_cast<std::uint16_t>(open.depth + 1);
  const std::uint8_t uses = uses_of(begin.domain);
  if (segment == 0 || (uses & kIsKept) == 0) {
    if ((uses & kIsWatched) != 0) push_special(sink, segment, uses, begin, from, nullptr);
    return begin.depth;
  }
  const Attributes attributes = read_attributes(from);
  if (is_special(uses, attributes.message)) [[unlikely]] {
    push_special(sink, segment, uses, begin, from, &attributes);
  } else {
    write_push(sink, segment, &begin, attributes);
  }
  return begin.depth;
}

int pop(nvtxDomainHandle_t domain_handle, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  const std::uint32_t segment = collect::segment_or_over();
  if (segment == collect::kOver) [[unlikely]]
    return pop_after_end(domain_handle);
  const std::uint64_t stamp = segment != 0 ? collect::read_stamp() : 0;
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) [[unlikely]]
    return -1;
  const std::uint16_t domain = domain_number(domain_handle);
  OpenRanges& open = sink->ranges[domain];
  if (open.depth == 0) [[unlikely]] {
    if (segment != 0) collect::count_drop(Drop::kUnbalancedPop);
    return -1;
  }
  const std::uint16_t depth = --open.depth;
  const std::uint8_t uses = uses_of(domain);
  const Finish finish{stamp, payload, count};
  const std::uint32_t place = collect::range_place(domain, depth);
  if (sink->pushed_step == place || sink->pushed_content == place) [[unlikely]] {
    pop_special(sink, segment, domain, depth, finish);
  } else if ((uses & kIsKept) != 0) {
    write_pop(sink, segment, domain, depth, finish);
  }
  return depth;
}

nvtxRangeId_t start(nvtxDomainHandle_t domain_handle, const Given& from) noexcept {
  std::uint32_t segment = collect::segment_or_over();
  Begin begin;
  begin.domain = domain_number(domain_handle);
  const std::uint8_t uses = uses_of(begin.domain);
  if (segment == collect::kOver) [[unlikely]] {
    count_begin_after_end(uses, from);
    return 0;
  }
  const bool is_watched = (uses & kIsWatched) != 0;
  if (!is_watched && (segment == 0 || (uses & kIsKept) == 0)) return 0;
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return 0;
  Content content;
  if (is_watched) {
    const Marks marks = marks_of(uses, from);
    if (marks.is_step) begin.step = begin_started_step(sink);
    if (marks.is_step || marks.is_content) content = begin_started_content(sink, marks, begin.step, from);
    segment = collect::capturing_segment();
  }
  const bool is_kept = (uses & kIsKept) != 0 || begin.step != 0 || content.is_content;
  if (segment == 0 || !is_kept) return 0;
  begin.range_or_ends = static_cast<std::uint64_t>(sink->thread) << 40 | ++sink->handle_count;
  if (content.mark != 0) remember_started_content(begin.range_or_ends, content.mark);
  const Attributes attributes = read_attributes(from);
  write_begin(sink, EventKind::kNvtxStart, begin, attributes, collect::read_stamp());
  return begin.range_or_ends;
}

void end(nvtxDomainHandle_t domain, nvtxRangeId_t range, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  if (range == 0 || !collect::is_capturing()) return;  // 0: it began while nothing was recorded
  const std::uint64_t stamp = collect::read_stamp();
  ThreadSink* sink = collect::thread_sink();
  if (sink != nullptr) write_finish(sink, EventKind::kNvtxEnd, domain_number(domain), range, 0, payload, count, stamp);
  end_started_content(range);
}

void mark(nvtxDomainHandle_t domain_handle, const Given& from) noexcept {
  if (collect::segment_or_over() == 0) return;
  Begin begin;
  begin.domain = domain_number(domain_handle);
  if ((uses_of(begin.domain) & kIsKept) == 0 || !collect::is_capturing()) return;
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return;
  const Attributes attributes = read_attributes(from);
  write_begin(sink, EventKind::kNvtxMark, begin, attributes, collect::read_stamp());
}

}  // namespace jaxprof::nvtx
