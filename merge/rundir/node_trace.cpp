#include "merge/rundir/node_trace.h"

#include <cstring>
#include <utility>

#include "merge/rundir/spool_blocks.h"

namespace jaxprof::rundir {
namespace {

using spool::IdentityKey;
using spool::StateKind;

}  // namespace

Result<NodeTrace> NodeTrace::load(const std::string& path) {
  NodeTrace trace;
  std::vector<Record> state_blocks;
  auto blocks = walk_blocks(path, [&](const spool::Block& block) {
    switch (block.kind) {
      case spool::BlockKind::kState:
        state_blocks.push_back(block.payload);
        break;
      case spool::BlockKind::kSamples:
        trace.sample_blocks_.push_back(block.payload);
        break;
      case spool::BlockKind::kClock:
        trace.clock_.add_block(block.payload);
        break;
      case spool::BlockKind::kFooter:
        trace.has_footer_ = true;
        break;
      default:  // of processes
        break;
    }
  });
  if (!blocks) return tl::unexpected(std::move(blocks.error()));
  if (blocks->identity.number(IdentityKey::kSpoolKind) != static_cast<std::int64_t>(spool::SpoolKind::kNode)) {
    return fail(ErrorCode::kInputUnreadable, path + ": is a process's spool, where a node's should be");
  }
  trace.path_ = path;
  trace.identity_ = std::move(blocks->identity);
  trace.anchors_ = std::move(blocks->anchors);
  trace.implausible_anchors_ = blocks->implausible_anchors;
  trace.health_ = blocks->reader.health();
  trace.reader_ = std::move(blocks->reader);
  for (const Record payload : state_blocks) trace.read_strings(payload);
  for (const Record payload : state_blocks) trace.read_records(payload);
  return trace;
}

void NodeTrace::read_strings(Record payload) {
  spool::StateDecoder decoder(payload);
  StateKind kind{};
  Record record;
  while (decoder.next(&kind, &record)) {
    spool::StringState state{};
    Record tail;
    if (kind != StateKind::kString || !spool::read_state(record, &state, &tail)) continue;
    if (state.length > tail.size()) continue;
    strings_[state.id].assign(reinterpret_cast<const char*>(tail.data()), state.length);
  }
}

void NodeTrace::read_records(Record payload) {
  spool::StateDecoder decoder(payload);
  StateKind kind{};
  Record record;
  bool is_whole = true;
  while (decoder.next(&kind, &record)) is_whole = take(kind, record) && is_whole;
  if (decoder.is_damaged() || !is_whole) ++damaged_blocks_;
}

bool NodeTrace::take(StateKind kind, Record record) {
  switch (kind) {
    case StateKind::kNodeObserver: {
      spool::NodeObserverState state{};
      if (!spool::read_state(record, &state)) return false;
      const bool was_shared = observer_.is_shared != 0;
      if (observer_.header.bytes == 0) observer_ = state;
      observer_.is_shared = was_shared || state.is_shared != 0 ? 1 : 0;
      return true;
    }
    case StateKind::kNicPort:
      return take_port(record);
    case StateKind::kNodeGpu:
      return take_gpu(record);
    case StateKind::kSampleStream:
      return take_stream(record);
    case StateKind::kNicEvent: {
      spool::NicEventState state{};
      if (!spool::read_state(record, &state)) return false;
      events_.push_back({state.nic, static_cast<spool::NicEvent>(state.event), text(state.text), state.stamp});
      return true;
    }
    case StateKind::kNodeNote: {
      spool::NodeNoteState state{};
      if (!spool::read_state(record, &state)) return false;
      notes_.push_back({static_cast<spool::NodeNote>(state.note), text(state.text)});
      return true;
    }
    case StateKind::kNodeTicks: {
      spool::NodeTicksState state{};
      if (!spool::read_state(record, &state)) return false;
      ticks_ = state;
      return true;
    }
    default:  // strings, which are read already; clocks; and kinds of newer versions
      return clock_.take(kind, record, [this](spool::StringId id) { return text(id); });
  }
}

bool NodeTrace::take_port(Record record) {
  spool::NicPortState state{};
  if (!spool::read_state(record, &state)) return false;
  ports_[state.nic] = {text(state.name),
                       text(state.driver),
                       text(state.pci),
                       text(state.guid),
                       text(state.netdev),
                       text(state.reason),
                       state};
  return true;
}

bool NodeTrace::take_gpu(Record record) {
  spool::NodeGpuState state{};
  if (!spool::read_state(record, &state)) return false;
  gpus_[state.gpu] = {text(state.name), text(state.uuid), text(state.pci), text(state.driver), state};
  return true;
}

// A stream's columns never change, so of two records with one number the first counts.
bool NodeTrace::take_stream(Record record) {
  NodeStream stream;
  Record tail;
  if (!spool::read_state(record, &stream.state, &tail)) return false;
  const std::size_t count = stream.state.column_count;
  if (count > spool::kMaxSampleColumns || tail.size() / sizeof(spool::SampleColumn) < count ||
      stream.state.partial_count > count) {
    return false;
  }
  stream.columns.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    NodeColumn& column = stream.columns[i];
    std::memcpy(&column.state, tail.data() + i * sizeof column.state, sizeof column.state);
    column.name = text(column.state.name);
  }
  streams_.try_emplace(stream.state.stream, std::move(stream));
  return true;
}

std::string NodeTrace::text(spool::StringId id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string() : found->second;
}

SampleLosses NodeTrace::for_each_row(const Visit& visit) const {
  SampleLosses losses;
  spool::SampleDecoder decoder;
  const auto visit_row = [&](std::uint32_t number, const spool::SampleRow& row) {
    const auto found = streams_.find(number);
    const bool is_known =
        found != streams_.end() &&
        row.values.size() == (row.is_partial ? found->second.state.partial_count : found->second.state.column_count);
    if (is_known) {
      visit(found->second, row);
    } else {
      ++losses.strange_rows;
    }
  };
  for (const Record payload : sample_blocks_) {
    if (!decoder.decode(payload, visit_row)) ++losses.damaged_blocks;
  }
  losses.skipped_sections = decoder.skipped_sections();
  reader_->give_back();  // of many nodes one is walked at a time
  return losses;
}

}  // namespace jaxprof::rundir
