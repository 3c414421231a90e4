#include "netsampler/node/nic_feed.h"

#include <algorithm>
#include <set>
#include <span>

#include "netsampler/node/port_records.h"

namespace jaxprof::netsampler {

NicFeed::NicFeed(NicSource* source, NodeClock* clock, NodeSpool* spool, std::uint64_t origin_ns)
    : source_(source), clock_(clock), spool_(spool), schedule_(origin_ns) {}

void NicFeed::rescan() {
  const NicUpdate update = source_->rescan();
  const std::uint64_t stamp = clock_->raw_ns();
  const std::vector<Port>& ports = source_->ports();
  fed_.resize(ports.size());
  std::set<std::size_t> changed;
  for (const Change& change : update.changes) changed.insert(change.port);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (fed_[i].written == ports[i].info && !changed.contains(i)) continue;
    write_port(static_cast<std::uint32_t>(i), ports[i].info, stamp, spool_);
    fed_[i].written = ports[i].info;
  }
  for (const Change& change : update.changes) write_change(change, stamp, spool_);
  for (const NicNote& note : update.notes) spool_->note(note.note, note.text, stamp);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    take_columns(i, &fed_[i]);
    const PortInfo& info = ports[i].info;
    const bool is_read = ports[i].is_present && !ports[i].columns.empty();
    schedule_.set(static_cast<std::uint32_t>(i), is_read ? info.period_ns : 0, info.slow_period_ns, clock_->now_ns());
  }
}

void NicFeed::take_columns(std::size_t port, Fed* fed) {
  const Port& found = source_->ports()[port];
  if (found.columns.empty() || (fed->stream && fed->column_set == found.column_set)) return;
  if (fed->stream) spool_->close_stream(*fed->stream);
  fed->stream = open_port_stream(static_cast<std::uint32_t>(port), found, spool_);
  fed->column_set = found.column_set;
  read(port, false, 0);
}

void NicFeed::read_due() {
  schedule_.take_due(clock_->now_ns(), &due_);
  for (const DueTick& tick : due_) {
    const Port& port = source_->ports()[tick.entry];
    read(tick.entry, !tick.is_slow && port.fast_count > 0 && port.fast_count < port.columns.size(), 0);
  }
}

void NicFeed::finish() {
  for (std::size_t i = 0; i < fed_.size(); ++i) read(i, false, spool::kSampleLast);
}

void NicFeed::read(std::size_t port, bool fast_only, std::uint32_t flags) {
  const Port& found = source_->ports()[port];
  const Fed& fed = fed_[port];
  // Columns that became others a moment ago wait for the rescan that the source wants.
  if (!found.is_present || !fed.stream || fed.column_set != found.column_set) return;
  source_->read(port, fast_only, &reading_);
  const std::size_t count = fast_only ? found.fast_count : found.columns.size();
  if (!reading_.is_ok || fed.column_set != found.column_set || reading_.values.size() < count) return;
  const std::uint64_t took_ns = reading_.end_ns - reading_.begin_ns;
  read_ns_ += took_ns;
  spool::SampleRow row;
  row.stamp = reading_.begin_ns;
  row.read_us = static_cast<std::uint32_t>(std::min<std::uint64_t>((took_ns + 999) / 1000, UINT32_MAX));
  row.flags = reading_.flags | flags;
  row.is_partial = fast_only;
  row.values = std::span<const std::uint64_t>(reading_.values).first(count);
  spool_->add_row(*fed.stream, row);
}

}  // namespace jaxprof::netsampler
