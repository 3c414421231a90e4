#include "agent/nvtx/ranges.h"

#include <cstring>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/registry.h"
#include "agent/nvtx/steps.h"
#include "agent/spool/event_record.h"

namespace jaxprof::nvtx {
namespace {

using collect::ThreadSink;
using spool::EventKind;

// An event's attributes, read as far as the caller's struct goes.
struct Attributes {
  spool::StringId message = spool::kNoString;
  std::uint32_t category = 0;
  std::int32_t payload_type = 0;
  std::uint64_t payload = 0;
  const nvtxPayloadData_t* blobs = nullptr;
  std::size_t blob_count = 0;
};

// Bits of a basic payload as one word: narrow integers widened by their sign, floats as their bits.
std::uint64_t payload_word(const nvtxEventAttributes_t& from) noexcept {
  switch (from.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return from.payload.ullValue;
    case NVTX_PAYLOAD_TYPE_INT64:
      return static_cast<std::uint64_t>(from.payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE: {
      std::uint64_t bits;
      std::memcpy(&bits, &from.payload.dValue, sizeof bits);
      return bits;
    }
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return from.payload.uiValue;
    case NVTX_PAYLOAD_TYPE_INT32:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(from.payload.iValue));
    case NVTX_PAYLOAD_TYPE_FLOAT: {
      std::uint32_t bits;
      std::memcpy(&bits, &from.payload.fValue, sizeof bits);
      return bits;
    }
    default:
      return 0;
  }
}

Attributes read_attributes(const nvtxEventAttributes_t* from) noexcept {
  Attributes to;
  if (from == nullptr || from->size < sizeof *from) return to;
  to.category = from->category;
  switch (from->messageType) {
    case NVTX_MESSAGE_TYPE_REGISTERED:
      to.message = string_of(from->message.registered);
      break;
    case NVTX_MESSAGE_TYPE_ASCII:
      to.message = collect::intern(from->message.ascii);
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      to.message = intern_wide(from->message.unicode);
      break;
    default:
      break;
  }
  if (from->payloadType == kExtendedPayload) {
    // The caller's memory; copied before the callback returns (nvToolsExtPayload.h).
    to.blobs = reinterpret_cast<const nvtxPayloadData_t*>(static_cast<std::uintptr_t>(from->payload.ullValue));
    to.blob_count = to.blobs != nullptr ? static_cast<std::size_t>(from->reserved0) : 0;
  } else if (from->payloadType != 0) {
    to.payload_type = from->payloadType;
    to.payload = payload_word(*from);
  }
  return to;
}

// Sizes of the payloads of one event, cut so that all of them fit into kMaxPayloadBytes.
constexpr std::size_t kMaxBlobs = 16;
struct Blobs {
  const nvtxPayloadData_t* from = nullptr;
  std::size_t count = 0;
  std::uint32_t bytes[kMaxBlobs];       // kept
  std::uint32_t full_bytes[kMaxBlobs];  // given
  std::uint32_t total = 0;              // with headers, a multiple of 8
};

constexpr std::uint32_t round_up(std::uint32_t bytes) noexcept {
  return (bytes + 7) & ~7U;
}

Blobs measure(const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  Blobs blobs;
  blobs.from = payload;
  if (payload == nullptr) return blobs;
  for (; blobs.count < count && blobs.count < kMaxBlobs; ++blobs.count) {
    const nvtxPayloadData_t& data = payload[blobs.count];
    std::size_t bytes = data.size == SIZE_MAX ? static_payload_bytes(data.schemaId) : data.size;
    if (data.payload == nullptr) bytes = 0;
    const std::uint32_t full = bytes < UINT32_MAX ? static_cast<std::uint32_t>(bytes) : UINT32_MAX;
    constexpr std::uint32_t kHeader = sizeof(spool::PayloadHeader);
    if (blobs.total + kHeader > spool::kMaxPayloadBytes) break;
    const auto room = static_cast<std::uint32_t>(spool::kMaxPayloadBytes) - blobs.total - kHeader;
    blobs.bytes[blobs.count] = full < room ? full : room;
    blobs.full_bytes[blobs.count] = full;
    if (full > room) collect::count_drop(Drop::kPayloadTruncated);
    blobs.total += kHeader + round_up(blobs.bytes[blobs.count]);
  }
  if (blobs.count < count) collect::count_drop(Drop::kPayloadTruncated);
  return blobs;
}

void copy(const Blobs& blobs, std::uint64_t* to) noexcept {
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t i = 0; i < blobs.count; ++i) {
    const spool::PayloadHeader header{blobs.from[i].schemaId, blobs.bytes[i], blobs.full_bytes[i]};
    std::memcpy(out, &header, sizeof header);
    out += sizeof header;
    const std::uint32_t padded = round_up(blobs.bytes[i]);
    if (padded > 0) std::memset(out + padded - 8, 0, 8);
    if (blobs.bytes[i] > 0) std::memcpy(out, blobs.from[i].payload, blobs.bytes[i]);
    out += padded;
  }
}

// Writes Push, Start or Mark; false if it was dropped. `range_or_ends` is a Start's range id or a Push's unseen ends,
// `step` nvtx_field::kStep. Fields at the end that are 0 are left out.
bool write_begin(ThreadSink* sink, EventKind kind, std::uint64_t context, std::uint64_t range_or_ends,
                 std::uint64_t step, const Attributes& attributes, std::uint64_t stamp) noexcept {
  static_assert(spool::nvtx_field::kRangeId == spool::nvtx_field::kPushUnseenEnds);
  std::uint32_t field_count = range_or_ends != 0 ? 4 : attributes.payload_type != 0 ? 3 : 1;
  if (step != 0) [[unlikely]]
    field_count = 5;
  Blobs blobs;
  if (attributes.blob_count > 0) [[unlikely]]
    blobs = measure(attributes.blobs, attributes.blob_count);
  std::uint64_t* fields = collect::begin(sink, kind, attributes.message, stamp, field_count, blobs.total);
  if (fields == nullptr) return false;
  fields[spool::nvtx_field::kContext] = context;
  if (field_count > 1) {
    fields[spool::nvtx_field::kPayloadType] = static_cast<std::uint32_t>(attributes.payload_type);
    fields[spool::nvtx_field::kPayload] = attributes.payload;
  }
  if (field_count > 3) fields[spool::nvtx_field::kRangeId] = range_or_ends;
  if (field_count > 4) fields[spool::nvtx_field::kStep] = step;
  if (blobs.count > 0) copy(blobs, fields + field_count);
  collect::commit(sink);
  return true;
}

// The depth is kept whether or not events are recorded, so that a window may open inside a range.
int push_attributes(std::uint16_t domain, const Attributes& attributes, std::uint64_t stamp) noexcept {
  const bool is_capturing = collect::is_capturing();
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return -1;
  collect::OpenRanges& open = sink->ranges[domain];
  const std::uint16_t depth = open.depth;
  if (depth < UINT16_MAX) open.depth = static_cast<std::uint16_t>(depth + 1);
  std::uint64_t step = 0;
  if (is_step_marker(domain, attributes.message)) [[unlikely]]
    step = begin_pushed_step(sink, domain, depth);
  if (is_capturing && write_begin(sink, EventKind::kNvtxPush, spool::pack({domain, depth, attributes.category}),
                                  open.unseen_ends, step, attributes, stamp)) {
    open.unseen_ends = 0;
  }
  return depth;
}

nvtxRangeId_t start_attributes(std::uint16_t domain, const Attributes& attributes, std::uint64_t stamp) noexcept {
  const bool is_capturing = collect::is_capturing();
  const bool is_marker = is_step_marker(domain, attributes.message);
  if (!is_capturing && !is_marker) return 0;
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return 0;
  const std::uint64_t step = is_marker ? begin_started_step(sink) : 0;
  if (!is_capturing) return 0;
  const nvtxRangeId_t range = static_cast<std::uint64_t>(sink->thread) << 40 | ++sink->handle_count;
  write_begin(sink, EventKind::kNvtxStart, spool::pack({domain, 0, attributes.category}), range, step, attributes,
              stamp);
  return range;
}

void mark_attributes(std::uint16_t domain, const Attributes& attributes, std::uint64_t stamp) noexcept {
  if (!collect::is_capturing()) return;
  ThreadSink* sink = collect::thread_sink();
  if (sink != nullptr)
    write_begin(sink, EventKind::kNvtxMark, spool::pack({domain, 0, attributes.category}), 0, 0, attributes, stamp);
}

// Writes Pop or End with its field and, unless it is 0, a Pop's unseen ends; false if it was dropped.
bool write_finish(ThreadSink* sink, EventKind kind, std::uint16_t domain, std::uint64_t field,
                  std::uint16_t unseen_ends, const nvtxPayloadData_t* payload, std::size_t count,
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

Attributes of_message(spool::StringId message) noexcept {
  Attributes attributes;
  attributes.message = message;
  return attributes;
}

Attributes of_payload(const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  Attributes attributes;
  attributes.blobs = payload;
  attributes.blob_count = payload != nullptr ? count : 0;
  return attributes;
}

}  // namespace

// A range begins after its attributes were read, and ends before anything else is done: our own work stays outside.
int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* from) noexcept {
  const Attributes attributes = read_attributes(from);
  return push_attributes(domain_number(domain), attributes, collect::read_stamp());
}

int push_message(spool::StringId message) noexcept {
  return push_attributes(0, of_message(message), collect::read_stamp());
}

int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  return push_attributes(domain_number(domain), of_payload(payload, count), collect::read_stamp());
}

int pop(nvtxDomainHandle_t domain_handle, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  const std::uint16_t domain = domain_number(domain_handle);
  const bool is_capturing = collect::is_capturing();
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return -1;
  collect::OpenRanges& open = sink->ranges[domain];
  if (open.depth == 0) {
    if (is_capturing) collect::count_drop(Drop::kUnbalancedPop);
    return -1;
  }
  const std::uint16_t depth = --open.depth;
  end_pushed_step(sink, domain, depth);
  const bool is_written =
      is_capturing && write_finish(sink, EventKind::kNvtxPop, domain, depth, open.unseen_ends, payload, count, stamp);
  if (is_written) {
    open.unseen_ends = 0;
  } else if (open.unseen_ends == 0 || depth < open.unseen_ends) {
    open.unseen_ends = static_cast<std::uint16_t>(depth + 1);
  }
  return depth;
}

nvtxRangeId_t start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* from) noexcept {
  const Attributes attributes = read_attributes(from);
  return start_attributes(domain_number(domain), attributes, collect::read_stamp());
}

nvtxRangeId_t start_message(spool::StringId message) noexcept {
  return start_attributes(0, of_message(message), collect::read_stamp());
}

nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  return start_attributes(domain_number(domain), of_payload(payload, count), collect::read_stamp());
}

void end(nvtxDomainHandle_t domain, nvtxRangeId_t range, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  if (range == 0 || !collect::is_capturing()) return;  // 0: it began while nothing was recorded
  ThreadSink* sink = collect::thread_sink();
  if (sink != nullptr) write_finish(sink, EventKind::kNvtxEnd, domain_number(domain), range, 0, payload, count, stamp);
}

void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* from) noexcept {
  const Attributes attributes = read_attributes(from);
  mark_attributes(domain_number(domain), attributes, collect::read_stamp());
}

void mark_message(spool::StringId message) noexcept {
  mark_attributes(0, of_message(message), collect::read_stamp());
}

void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  mark_attributes(domain_number(domain), of_payload(payload, count), collect::read_stamp());
}

}  // namespace jaxprof::nvtx
