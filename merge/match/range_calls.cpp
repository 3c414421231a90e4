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

NcclCall call_of(const NvtxRange& range, runfile::Coll coll, std::string_view api,
                 std::span<const PayloadField> fields) {
  NcclCall call;
  call.coll = coll;
  call.api = api;
  call.comm_hash = comm_hash_of(fields);
  if (const PayloadField* bytes = find_field(fields, kBytesField); bytes != nullptr) {
    call.bytes = static_cast<std::uint64_t>(bytes->value);
  }
  if (const PayloadField* op = find_field(fields, kRedopField); op != nullptr) {
    call.redop = redop_of(op->enum_name, op->value);
  }
  call.root = number_of_field(fields, kRootField);
  call.peer = number_of_field(fields, kPeerField);
  call.thread = range.thread;
  call.source = runfile::NcclSource::kNvtx;
  call.enqueue_start = range.start;
  call.enqueue_end = range.end;
  call.has_enqueue_end = range.has_end;
  return call;
}

}  // namespace

RangeCalls::RangeCalls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, CommMembers* members,
                       std::vector<NcclCall>* calls)
    : trace_(trace), payloads_(trace), end_of_group_(1) {
  for (const NvtxRange& range : ranges.ranges) {
    if (range.kind == RangeKind::kPushPop && is_nccl(range.domain)) take(range, members, calls);
  }
}

bool RangeCalls::is_nccl(std::uint32_t domain) {
  const auto [known, is_new] = is_nccl_.try_emplace(domain);
  if (is_new) known->second = trace_.domain_name(domain) == kDomain;
  return known->second;
}

const RangeCalls::Word& RangeCalls::word_of(spool::StringId message) {
  const auto [known, is_new] = words_.try_emplace(message);
  Word& word = known->second;
  if (!is_new) return word;
  word.api = trace_.text(message);
  word.coll = coll_of_api(word.api);
  word.begins_group = word.api == "ncclGroupStart";
  word.ends_group = word.api == "ncclGroupEnd";
  return word;
}

RangeCalls::Thread& RangeCalls::thread_of(std::uint32_t number) {
  if (last_thread_ == nullptr || last_number_ != number) {
    last_number_ = number;
    last_thread_ = &threads_[number];
  }
  return *last_thread_;
}

std::span<const PayloadField> RangeCalls::payload_of(const NvtxRange& range) {
  fields_.clear();
  payloads_.read_all(range.domain, range.start_payload, &fields_);
  payloads_.read_all(range.domain, range.end_payload, &fields_);
  return fields_;
}

void RangeCalls::take(const NvtxRange& range, CommMembers* members, std::vector<NcclCall>* calls) {
  const Word& word = word_of(range.message);
  Thread& thread = thread_of(range.thread);
  if (word.begins_group) {
    if (thread.depth++ > 0) return;
    thread.open_group = end_of_group_.size();
    end_of_group_.emplace_back();
    return;
  }
  if (word.ends_group) return end_group(range, &thread);
  const std::span<const PayloadField> fields = payload_of(range);
  if (!word.coll) return members->take_range(word.api, range.thread, fields);
  NcclCall call = call_of(range, *word.coll, word.api, fields);
  if (thread.depth > 0) {
    call.group = thread.open_group;
  } else {
    call.launch_start = range.start;
    call.launch_end = end_of(range);
    call.has_launch_end = range.has_end;
  }
  thread.calls.add({range.start, end_of(range), calls->size()});
  ordinals_.push_back(range.call_ordinal);
  calls->push_back(call);
}

void RangeCalls::end_group(const NvtxRange& range, Thread* thread) {
  if (thread->depth == 0 || --thread->depth > 0) return;
  const GroupEnd end{thread->open_group, range.start, end_of(range), range.has_end};
  thread->group_ends.add(end);
  end_of_group_[thread->open_group] = end;
}

std::size_t RangeCalls::around(std::uint32_t thread, std::uint64_t stamp) {
  const Span* span = thread_of(thread).calls.open_at(stamp);
  return span != nullptr ? span->call : kNoCall;
}

const GroupEnd* RangeCalls::group_end_around(std::uint32_t thread, std::uint64_t stamp) {
  return thread_of(thread).group_ends.open_at(stamp);
}

const GroupEnd* RangeCalls::group_end(std::uint64_t group) const {
  if (group >= end_of_group_.size() || end_of_group_[group].group == 0) return nullptr;
  return &end_of_group_[group];
}

}  // namespace jaxprof::match
