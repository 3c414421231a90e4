#include "merge/match/range_calls.h"

#include <algorithm>
#include <string_view>

#include "merge/match/nccl_words.h"

namespace jaxprof::match {
namespace {

constexpr std::string_view kDomain = "NCCL";

// Names of the fields in NCCL's payload schemas, the same in every release that has them (nccl.h's NVTX headers; read
// in 2.16 to 2.31). Their numbers and layouts are not.
constexpr std::string_view kBytesField = "Message size [bytes]";
constexpr std::string_view kRedopField = "Reduction operation";
constexpr std::string_view kRootField = "Root";
constexpr std::string_view kPeerField = "Peer rank";

std::uint64_t end_of(const NvtxRange& range) {
  return range.has_end ? range.end : range.ended_by;
}

NcclCall call_of(const NvtxRange& range, runfile::Coll coll, std::string_view api) {
  NcclCall call;
  call.coll = coll;
  call.api = api;
  call.comm_hash = comm_hash_of(range);
  if (const PayloadField* bytes = find_field(range.fields, kBytesField); bytes != nullptr) {
    call.bytes = static_cast<std::uint64_t>(bytes->value);
  }
  if (const PayloadField* op = find_field(range.fields, kRedopField); op != nullptr) {
    call.redop = redop_of(op->enum_name, op->value);
  }
  call.root = number_of_field(range.fields, kRootField);
  call.peer = number_of_field(range.fields, kPeerField);
  call.thread = range.thread;
  call.source = runfile::NcclSource::kNvtx;
  call.enqueue_start = range.start;
  call.enqueue_end = range.end;
  call.has_enqueue_end = range.has_end;
  return call;
}

// The last of those that begin at `stamp` or before, if it has not ended by then; null otherwise.
template <typename Span>
const Span* open_at(const std::map<std::uint32_t, std::vector<Span>>& by_thread, std::uint32_t thread,
                    std::uint64_t stamp) {
  const auto found = by_thread.find(thread);
  if (found == by_thread.end()) return nullptr;
  const std::vector<Span>& spans = found->second;
  const auto after = std::upper_bound(spans.begin(), spans.end(), stamp,
                                      [](std::uint64_t value, const Span& span) { return value < span.start; });
  if (after == spans.begin()) return nullptr;
  const Span& span = *(after - 1);
  return stamp <= span.end ? &span : nullptr;
}

}  // namespace

RangeCalls::RangeCalls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, CommMembers* members,
                       std::vector<NcclCall>* calls) {
  for (const NvtxRange& range : ranges.ranges) {
    const bool is_nccl = range.kind == RangeKind::kPushPop && trace.domain_name(range.domain) == kDomain;
    if (is_nccl) take(range, trace.text(range.message), members, calls);
  }
}

void RangeCalls::take(const NvtxRange& range, std::string_view api, CommMembers* members,
                      std::vector<NcclCall>* calls) {
  OpenGroup& group = open_groups_[range.thread];
  if (api == "ncclGroupStart") {
    if (group.depth++ == 0) group.number = ++group_count_;
    return;
  }
  if (api == "ncclGroupEnd") {
    if (group.depth == 0 || --group.depth > 0) return;
    const GroupEnd end{group.number, range.start, end_of(range), range.has_end};
    ends_[range.thread].push_back(end);
    end_of_group_[group.number] = end;
    return;
  }
  const std::optional<runfile::Coll> coll = coll_of_api(api);
  if (!coll) {
    members->take_range(api, range);
    return;
  }
  NcclCall call = call_of(range, *coll, api);
  if (group.depth > 0) {
    call.group = group.number;
  } else {
    call.launch_start = range.start;
    call.launch_end = end_of(range);
    call.has_launch_end = range.has_end;
  }
  spans_[range.thread].push_back({range.start, end_of(range), calls->size()});
  if (range.call_ordinal != 0) ordinals_[calls->size()] = range.call_ordinal;
  calls->push_back(std::move(call));
}

std::size_t RangeCalls::around(std::uint32_t thread, std::uint64_t stamp) const {
  const Span* span = open_at(spans_, thread, stamp);
  return span != nullptr ? span->call : kNoCall;
}

const GroupEnd* RangeCalls::group_end_around(std::uint32_t thread, std::uint64_t stamp) const {
  return open_at(ends_, thread, stamp);
}

const GroupEnd* RangeCalls::group_end(std::uint64_t group) const {
  const auto found = end_of_group_.find(group);
  return found == end_of_group_.end() ? nullptr : &found->second;
}

}  // namespace jaxprof::match
