#include "netsampler/node/port_records.h"

#include <cstring>
#include <vector>

namespace jaxprof::netsampler {

void write_port(std::uint32_t nic, const PortInfo& info, std::uint64_t stamp, NodeSpool* spool) {
  spool::NicPortState record{};
  record.nic = nic;
  record.port = info.port;
  record.name = spool->text(info.name);
  record.driver = spool->text(info.driver);
  record.pci = spool->text(info.pci);
  record.guid = spool->text(info.guid);
  record.netdev = spool->text(info.netdev);
  record.reason = spool->text(info.reason);
  record.numa = info.numa;
  record.source = static_cast<std::uint32_t>(info.source);
  record.bits_per_s = info.bits_per_s;
  record.lifespan_ns = info.lifespan_ns;
  record.period_ns = info.period_ns;
  record.slow_period_ns = info.slow_period_ns;
  record.stamp = stamp;
  record.is_active = info.is_active ? 1 : 0;
  spool->state(spool::StateKind::kNicPort, record);
}

void write_change(const Change& change, std::uint64_t stamp, NodeSpool* spool) {
  spool::NicEventState record{};
  record.nic = static_cast<std::uint32_t>(change.port);
  record.event = static_cast<std::uint32_t>(change.event);
  record.text = spool->text(change.text);
  record.stamp = stamp;
  spool->state(spool::StateKind::kNicEvent, record);
}

std::uint32_t open_port_stream(std::uint32_t nic, const Port& port, NodeSpool* spool) {
  const std::size_t count = port.columns.size();
  const std::uint32_t stream = spool->open_stream(count, port.fast_count);
  std::vector<std::uint8_t> bytes(sizeof(spool::SampleStreamState) + count * sizeof(spool::SampleColumn));
  spool::SampleStreamState record{};
  record.header = {static_cast<std::uint16_t>(spool::StateKind::kSampleStream), 0,
                   static_cast<std::uint32_t>(bytes.size())};
  record.stream = stream;
  record.subject_kind = static_cast<std::uint32_t>(spool::SampleSubject::kNic);
  record.subject = nic;
  record.column_count = static_cast<std::uint32_t>(count);
  record.partial_count = static_cast<std::uint32_t>(port.fast_count);
  std::memcpy(bytes.data(), &record, sizeof record);
  std::uint8_t* at = bytes.data() + sizeof record;
  for (const Column& column : port.columns) {
    spool::SampleColumn entry{};
    entry.name = spool->text(column.name);
    entry.scale = column.scale;
    entry.unit = static_cast<std::uint8_t>(column.unit);
    entry.kind = static_cast<std::uint8_t>(column.kind);
    entry.bits = column.bits;
    entry.is_error = column.is_error ? 1 : 0;
    std::memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
  }
  spool->state(bytes);
  return stream;
}

}  // namespace jaxprof::netsampler
