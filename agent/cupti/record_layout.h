// Where the fields of CUPTI's activity records lie. Every CUDA release makes records longer, and the kernel's has had
// thirteen layouts; but they only grow at their end, so one table a family serves Kernel4 to Kernel13, Memcpy5 to
// Memcpy7 and their siblings. How long a record is, the library that wrote it says (strides.h), and a field that lies
// beyond that is missing, which reads as 0. Offsets are checked against NVIDIA's headers by tests/unit/cupti.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jaxprof::cupti {

template <typename T>
struct Field {
  std::size_t offset;
};

// One record in CUPTI's buffer.
struct Record {
  const std::uint8_t* at = nullptr;
  std::size_t bytes = 0;

  template <typename T>
  bool has(Field<T> field) const noexcept {
    return field.offset + sizeof(T) <= bytes;
  }
  template <typename T>
  T get(Field<T> field) const noexcept {
    T value{};
    if (has(field)) std::memcpy(&value, at + field.offset, sizeof value);
    return value;
  }
};

using U8 = Field<std::uint8_t>;
using U16 = Field<std::uint16_t>;
using U32 = Field<std::uint32_t>;
using U64 = Field<std::uint64_t>;
using Text = Field<const char*>;

inline constexpr U32 kRecordKind{0};

namespace kernel_record {
inline constexpr U16 kRegisters{6};
inline constexpr U64 kStart{16}, kEnd{24};
inline constexpr U32 kDevice{40}, kContext{44}, kStream{48};
inline constexpr U32 kGrid[3] = {{52}, {56}, {60}};
inline constexpr U32 kBlock[3] = {{64}, {68}, {72}};
inline constexpr U32 kStaticShared{76}, kDynamicShared{80}, kLocalPerThread{84};
inline constexpr U32 kCorrelation{92};
inline constexpr Text kName{104};
inline constexpr U64 kGraphNode{144};
inline constexpr U32 kGraph{156}, kChannel{168};
inline constexpr U32 kCluster[3] = {{176}, {180}, {184}};
inline constexpr std::size_t kKnownBytes = 188;  // a record as long as this has all of them
}  // namespace kernel_record

namespace memcpy_record {
inline constexpr U8 kCopyKind{4}, kSourceKind{5}, kTargetKind{6}, kFlags{7};
inline constexpr U64 kBytes{8}, kStart{16}, kEnd{24};
inline constexpr U32 kDevice{32}, kContext{36}, kStream{40}, kCorrelation{44};
inline constexpr U64 kGraphNode{64};
inline constexpr U32 kGraph{72};
}  // namespace memcpy_record

// Between two GPUs (Memcpy2 kinds, CUpti_ActivityMemcpyPtoP).
namespace peer_record {
inline constexpr U32 kSourceDevice{44}, kTargetDevice{52}, kCorrelation{60};
inline constexpr U64 kGraphNode{72};
inline constexpr U32 kGraph{80};
}  // namespace peer_record

namespace memset_record {
inline constexpr U32 kValue{4};
inline constexpr U64 kBytes{8}, kStart{16}, kEnd{24};
inline constexpr U32 kDevice{32}, kContext{36}, kStream{40}, kCorrelation{44};
inline constexpr U16 kFlags{48}, kMemoryKind{50};
inline constexpr U64 kGraphNode{64};
inline constexpr U32 kGraph{72};
}  // namespace memset_record

namespace api_record {
inline constexpr U32 kCallback{4};
inline constexpr U64 kStart{8}, kEnd{16};
inline constexpr U32 kThread{28}, kCorrelation{32}, kReturnValue{36};
}  // namespace api_record

namespace overhead_record {
inline constexpr U32 kOverheadKind{4}, kObjectKind{8};
inline constexpr U32 kThread{16};                // of a process or thread
inline constexpr U32 kContext{16}, kStream{20};  // of a device, context or stream
inline constexpr U64 kStart{24}, kEnd{32};
inline constexpr U32 kCorrelation{40};
}  // namespace overhead_record

namespace graph_record {
inline constexpr U32 kCorrelation{4};
inline constexpr U64 kStart{8}, kEnd{16};
inline constexpr U32 kDevice{24}, kGraph{28}, kContext{32}, kStream{36};
}  // namespace graph_record

namespace synchronization_record {
inline constexpr U32 kType{4};
inline constexpr U64 kStart{8}, kEnd{16};
inline constexpr U32 kCorrelation{24}, kContext{28}, kStream{32}, kEvent{36};
}  // namespace synchronization_record

namespace event_record {
inline constexpr U32 kContext{8}, kStream{12}, kEvent{16};
inline constexpr U64 kDeviceTimestamp{40};
}  // namespace event_record

namespace external_record {
inline constexpr U32 kExternalKind{4};
inline constexpr U64 kExternalId{8};
inline constexpr U32 kCorrelation{16};
}  // namespace external_record

namespace device_record {
inline constexpr U64 kMemoryBytes{16};
inline constexpr U32 kProcessors{44}, kCapabilityMajor{104}, kCapabilityMinor{108}, kDevice{112};
struct Uuid {
  std::uint8_t bytes[16];
};
inline constexpr Field<Uuid> kUuid{120};
inline constexpr Text kName{136};
}  // namespace device_record

namespace context_record {
inline constexpr U32 kContext{4}, kDevice{8};
inline constexpr U16 kNullStream{14};
}  // namespace context_record

namespace stream_record {
inline constexpr U32 kContext{4}, kStream{8};
}  // namespace stream_record

}  // namespace jaxprof::cupti
