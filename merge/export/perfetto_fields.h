// The part of Perfetto's trace format that an export uses, by number. Source: Perfetto's public protos, of 2026 (files
// trace.proto, trace_packet.proto, clock_snapshot.proto, interned_data/interned_data.proto and, below track_event/,
// track_event.proto, track_descriptor.proto, process_descriptor.proto, counter_descriptor.proto and
// debug_annotation.proto, all in protos/perfetto/trace of its repository). Numbers of fields are never given out anew,
// so a viewer that is older or newer skips what it does not know. integration.export reads what is written here with
// Perfetto's own definitions.
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace jaxprof::exporting {

// One enumeration a message: names of fields, in alphabetical order of their messages.
enum class ClockSnapshotField : protozero::pbf_tag_type { kClocks = 1, kPrimaryTraceClock = 2 };
enum class ClockField : protozero::pbf_tag_type { kClockId = 1, kTimestamp = 2 };
enum class CounterDescriptorField : protozero::pbf_tag_type { kUnit = 3, kUnitName = 6 };
enum class DebugAnnotationField : protozero::pbf_tag_type {
  kNameIid = 1,
  kBoolValue = 2,
  kUintValue = 3,
  kIntValue = 4,
  kDoubleValue = 5,
  kStringValueIid = 17
};
// What is named once and then told by number: EventCategory, EventName, DebugAnnotationName, InternedString.
enum class InternedField : protozero::pbf_tag_type { kIid = 1, kText = 2 };
enum class InternedDataField : protozero::pbf_tag_type {
  kEventCategories = 1,
  kEventNames = 2,
  kDebugAnnotationNames = 3,
  kDebugAnnotationStringValues = 29
};
enum class ProcessDescriptorField : protozero::pbf_tag_type { kPid = 1, kLegacySortIndex = 3, kProcessName = 6 };
enum class TraceField : protozero::pbf_tag_type { kPacket = 1 };
enum class TracePacketField : protozero::pbf_tag_type {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kTrustedPacketSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
  kFirstPacketOnSequence = 87
};
enum class TrackDescriptorField : protozero::pbf_tag_type {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kParentUuid = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kSiblingOrderRank = 12
};
enum class TrackEventField : protozero::pbf_tag_type {
  kCategoryIids = 3,
  kDebugAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kDoubleCounterValue = 44,
  kFlowIds = 47  // fixed64
};

// Values of enumerations.
inline constexpr std::int32_t kSliceBegin = 1;  // TrackEvent.Type
inline constexpr std::int32_t kSliceEnd = 2;
inline constexpr std::int32_t kInstant = 3;
inline constexpr std::int32_t kCounter = 4;
inline constexpr std::uint32_t kIncrementalStateCleared = 1;  // TracePacket.SequenceFlags
inline constexpr std::uint32_t kNeedsIncrementalState = 2;
inline constexpr std::int32_t kExplicitOrder = 3;   // TrackDescriptor.ChildTracksOrdering
inline constexpr std::uint32_t kClockRealtime = 1;  // BuiltinClock
inline constexpr std::uint32_t kClockBoottime = 6;  // of packets that name none

}  // namespace jaxprof::exporting
