// NCCL says the same in seven layouts. Here a descriptor of any version becomes the words of one event record
// (agent/spool/event_record.h): one converter an event, which takes the fields that its version has and writes them
// where the record lies. It follows strings, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nccl/names.h"
#include "agent/nccl/recorder.h"

namespace jaxprof::nccl {

namespace detail {

namespace field = spool::nccl_field;

inline std::uint64_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uint64_t>(pointer);
}
inline std::uint64_t widen(int value) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// How many words a record has. What few calls have stands at the end and is left out where it is 0.
template <typename Coll>
std::size_t count_coll(const Coll& from) noexcept {
  if constexpr (requires { from.kernel_variant; }) {
    if (from.kernel_variant != nullptr) return field::kCollVariant + 1;
    if (from.is_symmetric) return field::kCollIsSymmetric + 1;
    if (from.user_tag != 0) return field::kCollUserTag + 1;
  }
  return field::kCollGroup + 1;
}

template <typename P2p>
std::size_t count_p2p(const P2p& from) noexcept {
  if constexpr (requires { from.user_tag; }) {
    if (from.user_tag != 0) return field::kP2pUserTag + 1;
  }
  return field::kP2pGroup + 1;
}

template <typename CeColl>
std::size_t count_ce_coll(const CeColl& from) noexcept {
  if constexpr (requires { from.user_tag; }) {
    if (from.user_tag != 0) return field::kCeUserTag + 1;
  }
  return field::kCeCopySequence + 1;
}

// `to` holds `count` words, of which the common ones are there already.
template <typename Coll>
void fill_coll(const Coll& from, std::size_t count, std::uint64_t* to) noexcept {
  to[field::kCollSequence] = from.sequence;
  to[field::kCollCodes] = spool::pack({function_of(from.function), type_of(from.datatype), algorithm_of(from.algorithm),
                                       protocol_of(from.protocol), from.channels, from.warps});
  to[field::kCollCount] = from.count;
  to[field::kCollRoot] = widen(from.root);
  // Up to version 4 the group is the parent.
  if constexpr (requires { from.group; }) {
    to[field::kCollGroup] = own_number(from.group);
  } else {
    to[field::kCollGroup] = to[field::kParent];
  }
  if constexpr (requires { from.kernel_variant; }) {
    if (count > field::kCollUserTag) to[field::kCollUserTag] = from.user_tag;
    if (count > field::kCollIsSymmetric) to[field::kCollIsSymmetric] = from.is_symmetric ? 1 : 0;
    if (count > field::kCollVariant) to[field::kCollVariant] = collect::intern(from.kernel_variant);
  }
}

template <typename P2p>
void fill_p2p(const P2p& from, std::size_t count, std::uint64_t* to) noexcept {
  spool::NcclCodes codes{function_of(from.function), type_of(from.datatype)};
  if constexpr (requires { from.channels; }) codes.channels = from.channels;
  to[field::kP2pCodes] = spool::pack(codes);
  to[field::kP2pCount] = from.count;
  to[field::kP2pPeer] = widen(from.peer);
  if constexpr (requires { from.group; }) {
    to[field::kP2pGroup] = own_number(from.group);
  } else {
    to[field::kP2pGroup] = to[field::kParent];
  }
  if constexpr (requires { from.user_tag; }) {
    if (count > field::kP2pUserTag) to[field::kP2pUserTag] = from.user_tag;
  }
}

template <typename Api>
void fill_api(const Api& from, std::uint64_t* to) noexcept {
  to[field::kApiCodes] = spool::pack({function_of(from.function), type_of(from.datatype)});
  to[field::kApiCount] = from.count;
  if constexpr (requires { from.root; }) {
    to[field::kApiRoot] = widen(from.root);
  } else {
    to[field::kApiRoot] = 0;
  }
  to[field::kApiStream] = address(from.stream);
  to[field::kApiIsCaptured] = from.is_captured ? 1 : 0;
}

template <typename CeColl>
void fill_ce_coll(const CeColl& from, std::size_t count, std::uint64_t* to) noexcept {
  to[field::kCeSequence] = from.sequence;
  to[field::kCeCodes] = spool::pack({function_of(from.function), type_of(from.datatype)});
  to[field::kCeCount] = from.count;
  to[field::kCeRoot] = widen(from.root);
  to[field::kCeStream] = address(from.stream);
  to[field::kCeCopySequence] = from.copy_sequence;
  if constexpr (requires { from.user_tag; }) {
    if (count > field::kCeUserTag) to[field::kCeUserTag] = from.user_tag;
  }
}

}  // namespace detail

// Records the start of the event that `from` describes, of type `event`; its handle. Events of other types than these
// carry no words of their own.
template <typename Descriptor>
void* start_described(const void* context, const Descriptor& from, spool::NcclEvent event,
                      std::uint64_t stamp) noexcept {
  using spool::NcclEvent;
  namespace field = spool::nccl_field;
  const auto write = [&](std::size_t count, const auto& fill) {
    return start(context, from.parent, event, stamp, count, fill);
  };
  if (event == NcclEvent::kColl) {
    const std::size_t count = detail::count_coll(from.coll);
    return write(count, [&](std::uint64_t* to) { detail::fill_coll(from.coll, count, to); });
  }
  if (event == NcclEvent::kP2p) {
    const std::size_t count = detail::count_p2p(from.p2p);
    return write(count, [&](std::uint64_t* to) { detail::fill_p2p(from.p2p, count, to); });
  }
  if constexpr (requires { from.group_api; }) {
    if (event == NcclEvent::kCollApi) {
      return write(field::kApiIsCaptured + 1, [&](std::uint64_t* to) { detail::fill_api(from.coll_api, to); });
    }
    if (event == NcclEvent::kP2pApi) {
      return write(field::kApiIsCaptured + 1, [&](std::uint64_t* to) { detail::fill_api(from.p2p_api, to); });
    }
    if (event == NcclEvent::kGroupApi) {
      return write(field::kGroupApiIsCaptured + 1, [&](std::uint64_t* to) {
        to[field::kGroupApiDepth] = detail::widen(from.group_api.depth);
        to[field::kGroupApiIsCaptured] = from.group_api.is_captured ? 1 : 0;
      });
    }
    if (event == NcclEvent::kKernelLaunch) {
      return write(field::kLaunchStream + 1,
                   [&](std::uint64_t* to) { to[field::kLaunchStream] = detail::address(from.kernel_launch.stream); });
    }
  }
  if constexpr (requires { from.ce_coll; }) {
    if (event == NcclEvent::kCeColl) {
      const std::size_t count = detail::count_ce_coll(from.ce_coll);
      return write(count, [&](std::uint64_t* to) { detail::fill_ce_coll(from.ce_coll, count, to); });
    }
  }
  return write(kCommonFields, [](std::uint64_t*) {});
}

}  // namespace jaxprof::nccl
