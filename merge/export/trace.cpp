// Messages are built in the file's buffer, where protozero closes them with their lengths.
#include "merge/export/trace.h"

#include <bit>
#include <protozero/basic_pbf_builder.hpp>
#include <protozero/buffer_fixed.hpp>
#include <protozero/pbf_builder.hpp>

#include "merge/export/perfetto_fields.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::exporting {
namespace {

constexpr std::uint32_t kSequence = 1;

template <typename Field>
using Message = protozero::pbf_builder<Field>;

// Events are many and small: they are built on the stack, where nothing has to grow.
constexpr std::size_t kMostEventBytes = 2048;  // 24 notes of at most 15 bytes, and the rest
using StackBuffer = protozero::fixed_size_buffer_adaptor;
template <typename Field>
using StackMessage = protozero::basic_pbf_builder<StackBuffer, Field>;

// A packet of the one sequence there is.
Message<TracePacketField> add_packet(Message<TraceField>& trace, std::uint32_t sequence_flags) {
  Message<TracePacketField> packet{trace, TraceField::kPacket};
  packet.add_uint32(TracePacketField::kTrustedPacketSequenceId, kSequence);
  packet.add_uint32(TracePacketField::kSequenceFlags, sequence_flags);
  return packet;
}

void add_clock(Message<ClockSnapshotField>& snapshot, std::uint32_t id, std::uint64_t t_ns) {
  Message<ClockField> clock{snapshot, ClockSnapshotField::kClocks};
  clock.add_uint32(ClockField::kClockId, id);
  clock.add_uint64(ClockField::kTimestamp, t_ns);
}

void add_note(StackMessage<TrackEventField>& event, const Note& note) {
  StackMessage<DebugAnnotationField> annotation{event, TrackEventField::kDebugAnnotations};
  annotation.add_uint64(DebugAnnotationField::kNameIid, static_cast<std::uint64_t>(note.name) + 1);
  switch (note.type) {
    case Note::Type::kUnsigned:
      return annotation.add_uint64(DebugAnnotationField::kUintValue, note.bits);
    case Note::Type::kSigned:
      return annotation.add_int64(DebugAnnotationField::kIntValue, static_cast<std::int64_t>(note.bits));
    case Note::Type::kReal:
      return annotation.add_double(DebugAnnotationField::kDoubleValue, std::bit_cast<double>(note.bits));
    case Note::Type::kBool:
      return annotation.add_bool(DebugAnnotationField::kBoolValue, note.bits != 0);
    case Note::Type::kText:
      return annotation.add_uint64(DebugAnnotationField::kStringValueIid, note.bits);
  }
}

}  // namespace

Trace::Trace(ByteFile& file, const runfile::StringTable& strings, std::int64_t epoch_unix_ns)
    : file_(&file), strings_(&strings), names_(strings.size()), texts_(strings.size()) {
  write_head(epoch_unix_ns);
  for (std::size_t i = 0; i < kCategoryNames.size(); ++i) {
    write_interned(static_cast<int>(InternedDataField::kEventCategories), i + 1, kCategoryNames[i]);
  }
  for (std::size_t i = 0; i < kNoteNames.size(); ++i) {
    write_interned(static_cast<int>(InternedDataField::kDebugAnnotationNames), i + 1, kNoteNames[i]);
  }
}

void Trace::write_head(std::int64_t epoch_unix_ns) {
  Message<TraceField> trace{file_->buffer()};
  Message<TracePacketField> packet = add_packet(trace, kIncrementalStateCleared);
  packet.add_bool(TracePacketField::kFirstPacketOnSequence, true);
  packet.add_uint64(TracePacketField::kTimestamp, 0);
  Message<ClockSnapshotField> snapshot{packet, TracePacketField::kClockSnapshot};
  add_clock(snapshot, kClockBoottime, 0);
  if (epoch_unix_ns > 0) add_clock(snapshot, kClockRealtime, static_cast<std::uint64_t>(epoch_unix_ns));
  snapshot.add_enum(ClockSnapshotField::kPrimaryTraceClock, static_cast<std::int32_t>(kClockBoottime));
}

void Trace::write_interned(int field, std::uint64_t number, std::string_view text) {
  {
    Message<TraceField> trace{file_->buffer()};
    Message<TracePacketField> packet = add_packet(trace, kNeedsIncrementalState);
    Message<InternedDataField> texts{packet, TracePacketField::kInternedData};
    Message<InternedField> entry{texts, static_cast<InternedDataField>(field)};
    entry.add_uint64(InternedField::kIid, number);
    entry.add_string(InternedField::kText, runfile::valid_utf8(text));
  }
  file_->flush_if_full();
}

std::uint64_t Trace::add_process(std::int32_t pid, std::string_view name, std::int32_t order) {
  {
    Message<TraceField> trace{file_->buffer()};
    Message<TracePacketField> packet = add_packet(trace, kNeedsIncrementalState);
    Message<TrackDescriptorField> track{packet, TracePacketField::kTrackDescriptor};
    track.add_uint64(TrackDescriptorField::kUuid, ++n_tracks_);
    track.add_enum(TrackDescriptorField::kChildOrdering, kExplicitOrder);
    Message<ProcessDescriptorField> process{track, TrackDescriptorField::kProcess};
    process.add_int32(ProcessDescriptorField::kPid, pid);
    process.add_int32(ProcessDescriptorField::kLegacySortIndex, order);
    process.add_string(ProcessDescriptorField::kProcessName, runfile::valid_utf8(name));
  }
  file_->flush_if_full();
  return n_tracks_;
}

std::uint64_t Trace::add_track(const TrackPlan& plan) {
  {
    Message<TraceField> trace{file_->buffer()};
    Message<TracePacketField> packet = add_packet(trace, kNeedsIncrementalState);
    Message<TrackDescriptorField> track{packet, TracePacketField::kTrackDescriptor};
    track.add_uint64(TrackDescriptorField::kUuid, ++n_tracks_);
    if (plan.parent != 0) track.add_uint64(TrackDescriptorField::kParentUuid, plan.parent);
    track.add_string(TrackDescriptorField::kName, runfile::valid_utf8(plan.name));
    track.add_int32(TrackDescriptorField::kSiblingOrderRank, plan.order);
    if (plan.is_counter) {
      Message<CounterDescriptorField> counter{track, TrackDescriptorField::kCounter};
      if (!plan.unit.empty()) counter.add_string(CounterDescriptorField::kUnitName, plan.unit);
    }
  }
  file_->flush_if_full();
  return n_tracks_;
}

// A packet with one event; `fill` gives it what it has besides its type and track.
template <typename Fill>
void Trace::write_event(std::int32_t type, std::uint64_t track, std::int64_t t_ns, const Fill& fill) {
  std::array<char, kMostEventBytes> memory;
  StackBuffer bytes{memory};
  {
    StackMessage<TraceField> trace{bytes};
    StackMessage<TracePacketField> packet{trace, TraceField::kPacket};
    packet.add_uint64(TracePacketField::kTimestamp, static_cast<std::uint64_t>(t_ns));
    packet.add_uint32(TracePacketField::kTrustedPacketSequenceId, kSequence);
    packet.add_uint32(TracePacketField::kSequenceFlags, kNeedsIncrementalState);
    StackMessage<TrackEventField> event{packet, TracePacketField::kTrackEvent};
    event.add_enum(TrackEventField::kType, type);
    event.add_uint64(TrackEventField::kTrackUuid, track);
    fill(event);
  }
  file_->buffer().append(bytes.data(), bytes.size());
  file_->flush_if_full();
}

void Trace::write_slice(std::int32_t type, std::uint64_t track, const Slice& slice) {
  write_event(type, track, slice.start_ns, [&slice](StackMessage<TrackEventField>& event) {
    event.add_uint64(TrackEventField::kNameIid, slice.name);
    event.add_uint64(TrackEventField::kCategoryIids, static_cast<std::uint64_t>(slice.category) + 1);
    if (slice.flow != 0) event.add_fixed64(TrackEventField::kFlowIds, slice.flow);
    for (const Note& note : slice.notes.all()) add_note(event, note);
  });
}

void Trace::begin(std::uint64_t track, const Slice& slice) {
  ++n_slices_;
  write_slice(kSliceBegin, track, slice);
}

void Trace::instant(std::uint64_t track, const Slice& mark) {
  write_slice(kInstant, track, mark);
}

void Trace::end(std::uint64_t track, std::int64_t t_ns) {
  write_event(kSliceEnd, track, t_ns, [](StackMessage<TrackEventField>&) {});
}

void Trace::value(std::uint64_t track, std::int64_t t_ns, double value) {
  write_event(kCounter, track, t_ns, [value](StackMessage<TrackEventField>& event) {
    event.add_double(TrackEventField::kDoubleCounterValue, value);
  });
}

std::uint64_t Trace::name(runfile::StringId id) {
  const auto [number, is_new] = names_.find(id);
  if (is_new) write_interned(static_cast<int>(InternedDataField::kEventNames), number, strings_->text(id));
  return number;
}
std::uint64_t Trace::name(std::string_view text) {
  const auto [number, is_new] = names_.find(text);
  if (is_new) write_interned(static_cast<int>(InternedDataField::kEventNames), number, text);
  return number;
}
std::uint64_t Trace::text(runfile::StringId id) {
  const auto [number, is_new] = texts_.find(id);
  if (is_new)
    write_interned(static_cast<int>(InternedDataField::kDebugAnnotationStringValues), number, strings_->text(id));
  return number;
}
std::uint64_t Trace::text(std::string_view text) {
  const auto [number, is_new] = texts_.find(text);
  if (is_new) write_interned(static_cast<int>(InternedDataField::kDebugAnnotationStringValues), number, text);
  return number;
}

}  // namespace jaxprof::exporting
