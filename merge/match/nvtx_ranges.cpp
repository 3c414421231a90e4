#include "merge/match/nvtx_ranges.h"

#include <algorithm>

namespace jaxprof::match {

namespace field = spool::nvtx_field;

NvtxRange NvtxRangeBuilder::begin(RangeKind kind, std::uint32_t thread, const spool::Event& event) {
  const spool::NvtxContext context = spool::unpack_nvtx_context(event.fields[field::kContext]);
  NvtxRange range;
  range.kind = kind;
  range.thread = thread;
  range.domain = context.domain;
  range.category = context.category;
  range.depth = context.depth;
  range.message = event.id;
  range.start = event.stamp;
  range.payload_type = static_cast<std::int32_t>(event.fields[field::kPayloadType]);
  range.payload = event.fields[field::kPayload];
  range.step = event.fields[field::kStep];
  range.call_ordinal = kind == RangeKind::kPushPop ? event.fields[field::kCallOrdinal] : 0;
  range.start_payload = {event.payload, event.payload_bytes};
  return range;
}

std::size_t NvtxRangeBuilder::innermost(const Stack& stack) {
  const auto open = std::find_if(stack.rbegin(), stack.rend(), [](std::size_t index) { return index != kNoRange; });
  return open == stack.rend() ? kNoRange : *open;
}

NvtxRangeBuilder::Stack& NvtxRangeBuilder::stack_of(std::uint32_t thread, std::uint32_t domain,
                                                    std::uint64_t unseen_ends, std::uint64_t stamp) {
  const std::pair place(thread, domain);
  if (last_stack_ == nullptr || last_place_ != place) {
    last_place_ = place;
    last_stack_ = &stacks_[place];
  }
  Stack& stack = *last_stack_;
  if (unseen_ends > 0) unwind(stack, unseen_ends - 1, stamp);
  return stack;
}

void NvtxRangeBuilder::unwind(Stack& stack, std::uint64_t depth, std::uint64_t stamp) {
  while (stack.size() > depth) {
    const std::size_t index = stack.back();
    if (index != kNoRange && !ranges_[index].has_end) ranges_[index].ended_by = stamp;
    stack.pop_back();
  }
}

void NvtxRangeBuilder::end_range(std::size_t index, const spool::Event& event) {
  NvtxRange& range = ranges_[index];
  range.end = event.stamp;
  range.has_end = true;
  range.end_payload = {event.payload, event.payload_bytes};
}

void NvtxRangeBuilder::add(std::uint32_t thread, const spool::Event& event) {
  switch (event.kind) {
    case spool::EventKind::kNvtxPush: {
      NvtxRange range = begin(RangeKind::kPushPop, thread, event);
      Stack& stack = stack_of(thread, range.domain, event.fields[field::kPushUnseenEnds], event.stamp);
      // Ranges as deep as this one or deeper have ended, without our seeing it.
      unwind(stack, range.depth, event.stamp);
      stack.resize(range.depth, kNoRange);
      range.parent = innermost(stack);
      stack.push_back(ranges_.size());
      ranges_.push_back(std::move(range));
      break;
    }
    case spool::EventKind::kNvtxPop: {
      const std::uint32_t domain = event.id;
      const std::uint64_t depth = event.fields[field::kPopDepth];
      Stack& stack = stack_of(thread, domain, event.fields[field::kPopUnseenEnds], event.stamp);
      if (depth < stack.size() && stack[depth] != kNoRange) {
        end_range(stack[depth], event);
      } else {
        ++ends_without_start_;
      }
      unwind(stack, depth, event.stamp);
      break;
    }
    case spool::EventKind::kNvtxStart: {
      NvtxRange range = begin(RangeKind::kStartEnd, thread, event);
      const std::uint64_t id = event.fields[field::kRangeId];
      started_[id] = ranges_.size();
      ranges_.push_back(std::move(range));
      if (const auto early = early_ends_.find(id); early != early_ends_.end()) {
        end_range(ranges_.size() - 1, early->second);
        early_ends_.erase(early);
        started_.erase(id);
      }
      break;
    }
    case spool::EventKind::kNvtxEnd: {
      const std::uint64_t id = event.fields[field::kEndRangeId];
      // Another thread's block with the start may come later in the file.
      if (const auto open = started_.find(id); open != started_.end()) {
        end_range(open->second, event);
        started_.erase(open);
      } else {
        early_ends_.emplace(id, event);
      }
      break;
    }
    case spool::EventKind::kNvtxMark: {
      NvtxRange range = begin(RangeKind::kMark, thread, event);
      range.end = range.start;
      range.has_end = true;
      range.parent = innermost(stack_of(thread, range.domain, 0, range.start));
      ranges_.push_back(std::move(range));
      break;
    }
    default:
      break;
  }
}

NvtxRanges NvtxRangeBuilder::finish() && {
  NvtxRanges result;
  result.ends_without_start = ends_without_start_ + early_ends_.size();
  result.never_ended = static_cast<std::uint64_t>(
      std::count_if(ranges_.begin(), ranges_.end(), [](const NvtxRange& range) { return !range.has_end; }));
  result.ranges = std::move(ranges_);
  return result;
}

}  // namespace jaxprof::match
