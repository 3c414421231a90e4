// NCCL says the same in seven layouts. Here a descriptor of any version becomes one description with the words of an
// event record (agent/spool/event_record.h): one converter an event, which takes the fields that its version has. It
// follows strings, and nothing else.
#pragma once

#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nccl/names.h"
#include "agent/nccl/recorder.h"

namespace jaxprof::nccl {

namespace detail {

inline std::uint64_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uint64_t>(pointer);
}
inline std::uint64_t widen(int value) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <typename Coll>
void describe_coll(const Coll& from, Description* to) noexcept {
  namespace field = spool::nccl_field;
  to->set(field::kCollSequence, from.sequence);
  to->set(field::kCollCodes,
          spool::pack({function_of(from.function), type_of(from.datatype), algorithm_of(from.algorithm),
                       protocol_of(from.protocol), from.channels, from.warps}));
  to->set(field::kCollCount, from.count);
  to->set(field::kCollRoot, widen(from.root));
  // Up to version 4 the group is the parent.
  if constexpr (requires { from.group; }) {
    to->set(field::kCollGroup, own_number(from.group));
  } else {
    to->set(field::kCollGroup, to->parent);
  }
  if constexpr (requires { from.kernel_variant; }) {
    to->set_unless_zero(field::kCollUserTag, from.user_tag);
    to->set_unless_zero(field::kCollIsSymmetric, from.is_symmetric ? 1 : 0);
    to->set_unless_zero(field::kCollVariant, collect::intern(from.kernel_variant));
  }
}

template <typename P2p>
void describe_p2p(const P2p& from, Description* to) noexcept {
  namespace field = spool::nccl_field;
  spool::NcclCodes codes{function_of(from.function), type_of(from.datatype)};
  if constexpr (requires { from.channels; }) codes.channels = from.channels;
  to->set(field::kP2pCodes, spool::pack(codes));
  to->set(field::kP2pCount, from.count);
  to->set(field::kP2pPeer, widen(from.peer));
  if constexpr (requires { from.group; }) {
    to->set(field::kP2pGroup, own_number(from.group));
  } else {
    to->set(field::kP2pGroup, to->parent);
  }
  if constexpr (requires { from.user_tag; }) to->set_unless_zero(field::kP2pUserTag, from.user_tag);
}

template <typename Api>
void describe_api(const Api& from, Description* to) noexcept {
  namespace field = spool::nccl_field;
  to->set(field::kApiCodes, spool::pack({function_of(from.function), type_of(from.datatype)}));
  to->set(field::kApiCount, from.count);
  if constexpr (requires { from.root; }) {
    to->set(field::kApiRoot, widen(from.root));
  } else {
    to->set(field::kApiRoot, 0);
  }
  to->set(field::kApiStream, address(from.stream));
  to->set(field::kApiIsCaptured, from.is_captured ? 1 : 0);
}

template <typename CeColl>
void describe_ce_coll(const CeColl& from, Description* to) noexcept {
  namespace field = spool::nccl_field;
  to->set(field::kCeSequence, from.sequence);
  to->set(field::kCeCodes, spool::pack({function_of(from.function), type_of(from.datatype)}));
  to->set(field::kCeCount, from.count);
  to->set(field::kCeRoot, widen(from.root));
  to->set(field::kCeStream, address(from.stream));
  to->set(field::kCeCopySequence, from.copy_sequence);
  if constexpr (requires { from.user_tag; }) to->set_unless_zero(field::kCeUserTag, from.user_tag);
}

}  // namespace detail

// `event` is the descriptor's type. Events of other types than these carry no fields of their own.
template <typename Descriptor>
Description describe(const Descriptor& from, spool::NcclEvent event) noexcept {
  using spool::NcclEvent;
  namespace field = spool::nccl_field;
  Description to;
  to.event = event;
  to.parent = own_number(from.parent);
  if (event == NcclEvent::kColl) {
    detail::describe_coll(from.coll, &to);
  } else if (event == NcclEvent::kP2p) {
    detail::describe_p2p(from.p2p, &to);
  }
  if constexpr (requires { from.group_api; }) {
    if (event == NcclEvent::kGroupApi) {
      to.set(field::kGroupApiDepth, detail::widen(from.group_api.depth));
      to.set(field::kGroupApiIsCaptured, from.group_api.is_captured ? 1 : 0);
    } else if (event == NcclEvent::kCollApi) {
      detail::describe_api(from.coll_api, &to);
    } else if (event == NcclEvent::kP2pApi) {
      detail::describe_api(from.p2p_api, &to);
    } else if (event == NcclEvent::kKernelLaunch) {
      to.set(field::kLaunchStream, detail::address(from.kernel_launch.stream));
    }
  }
  if constexpr (requires { from.ce_coll; }) {
    if (event == NcclEvent::kCeColl) detail::describe_ce_coll(from.ce_coll, &to);
  }
  return to;
}

}  // namespace jaxprof::nccl
