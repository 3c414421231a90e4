// A node's spool as lines of JSON, for tests that look at the samples themselves: one object a line, its "kind" says of
// what, in the order of the spool. Strings are resolved, numbers are as they were stored: nothing is scaled, no
// difference is taken, no flag is read, so that a test's arithmetic is its own. Exit status 1 and a line on stderr if
// anything in the spool is damaged.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"
#include "agent/spool/spool_reader.h"

namespace {

using namespace jaxprof::spool;
using Json = nlohmann::ordered_json;
using Bytes = std::span<const std::uint8_t>;

class Printer {
 public:
  // False if the block is damaged.
  bool print_block(const Block& block) {
    switch (block.kind) {
      case BlockKind::kIdentity:
        return print_identity(block.payload);
      case BlockKind::kState:
        return print_states(block.payload);
      case BlockKind::kSamples:
        return samples_.decode(block.payload, [](std::uint32_t stream, const SampleRow& row) { print(stream, row); }) &&
               samples_.skipped_sections() == 0;
      default:
        return true;
    }
  }

 private:
  static bool print_identity(Bytes payload) {
    const SpoolIdentity identity = SpoolIdentity::parse(payload);
    print({{"kind", "identity"},
           {"spool_kind", identity.number(IdentityKey::kSpoolKind)},
           {"event_clock", identity.number(IdentityKey::kEventClock)}});
    return true;
  }

  bool print_states(Bytes payload) {
    StateDecoder decoder(payload);
    StateKind kind{};
    Bytes record;
    while (decoder.next(&kind, &record)) {
      if (!print_state(kind, record)) return false;
    }
    return !decoder.is_damaged();
  }

  bool print_state(StateKind kind, Bytes record) {
    switch (kind) {
      case StateKind::kString:
        return keep_string(record);
      case StateKind::kNicPort:
        return print_port(record);
      case StateKind::kSampleStream:
        return print_stream(record);
      case StateKind::kNicEvent:
        return print_event(record);
      case StateKind::kNodeNote:
        return print_note(record);
      case StateKind::kNodeTicks:
        return print_ticks(record);
      default:
        return true;
    }
  }

  bool keep_string(Bytes record) {
    StringState string{};
    Bytes tail;
    if (!read_state(record, &string, &tail) || string.length > tail.size()) return false;
    strings_[string.id].assign(tail.begin(), tail.begin() + string.length);
    return true;
  }

  bool print_port(Bytes record) const {
    NicPortState port{};
    if (!read_state(record, &port)) return false;
    print({{"kind", "port"},
           {"nic", port.nic},
           {"port", port.port},
           {"name", text(port.name)},
           {"driver", text(port.driver)},
           {"pci", text(port.pci)},
           {"guid", text(port.guid)},
           {"netdev", text(port.netdev)},
           {"reason", text(port.reason)},
           {"numa", port.numa},
           {"source", port.source},
           {"bits_per_s", port.bits_per_s},
           {"period_ns", port.period_ns},
           {"slow_period_ns", port.slow_period_ns},
           {"is_active", port.is_active != 0},
           {"stamp_ns", port.stamp}});
    return true;
  }

  bool print_stream(Bytes record) const {
    SampleStreamState stream{};
    Bytes tail;
    if (!read_state(record, &stream, &tail) || tail.size() / sizeof(SampleColumn) < stream.column_count) return false;
    Json columns = Json::array();
    for (std::uint32_t i = 0; i < stream.column_count; ++i) {
      SampleColumn column{};
      std::memcpy(&column, tail.data() + i * sizeof column, sizeof column);
      columns.push_back({{"name", text(column.name)},
                         {"scale", column.scale},
                         {"unit", column.unit},
                         {"kind", column.kind},
                         {"bits", column.bits},
                         {"is_error", column.is_error != 0}});
    }
    print({{"kind", "stream"},
           {"stream", stream.stream},
           {"subject_kind", stream.subject_kind},
           {"subject", stream.subject},
           {"partial_count", stream.partial_count},
           {"columns", columns}});
    return true;
  }

  bool print_event(Bytes record) const {
    NicEventState event{};
    if (!read_state(record, &event)) return false;
    print({{"kind", "event"},
           {"nic", event.nic},
           {"event", event.event},
           {"text", text(event.text)},
           {"stamp_ns", event.stamp}});
    return true;
  }

  bool print_note(Bytes record) const {
    NodeNoteState note{};
    if (!read_state(record, &note)) return false;
    print({{"kind", "note"}, {"note", note.note}, {"text", text(note.text)}, {"stamp_ns", note.stamp}});
    return true;
  }

  static bool print_ticks(Bytes record) {
    NodeTicksState ticks{};
    if (!read_state(record, &ticks)) return false;
    print({{"kind", "ticks"},
           {"ticks", ticks.ticks},
           {"missed", ticks.missed},
           {"lateness_max_ns", ticks.lateness_max_ns},
           {"read_ns", ticks.read_ns},
           {"cpu_ns", ticks.cpu_ns},
           {"stamp_ns", ticks.stamp}});
    return true;
  }

  // A value that could not be read is null.
  static void print(std::uint32_t stream, const SampleRow& row) {
    Json values = Json::array();
    for (const std::uint64_t value : row.values) values.push_back(value == kMissingSample ? Json() : Json(value));
    print({{"kind", "row"},
           {"stream", stream},
           {"stamp_ns", row.stamp},
           {"read_us", row.read_us},
           {"flags", row.flags},
           {"is_partial", row.is_partial},
           {"values", values}});
  }

  static void print(const Json& line) { std::cout << line.dump() << '\n'; }

  std::string text(StringId id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? std::string() : found->second;
  }

  std::map<StringId, std::string> strings_;
  SampleDecoder samples_;
};

int print_spool(const char* path) {
  auto reader = SpoolReader::open(path);
  if (!reader) {
    std::fprintf(stderr, "print_samples: %s\n", reader.error().message.c_str());
    return 1;
  }
  Printer printer;
  Block block;
  while (reader->next(&block)) {
    if (!printer.print_block(block)) {
      std::fprintf(stderr, "print_samples: %s: block %u is damaged\n", path, block.sequence);
      return 1;
    }
  }
  const SpoolHealth& health = reader->health();
  if (health.skipped_bytes + health.lost_blocks + health.torn_tail_bytes != 0 || !health.has_footer) {
    std::fprintf(stderr, "print_samples: %s: incomplete or damaged\n", path);
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: print_samples SPOOL\n");
    return 2;
  }
  return print_spool(argv[1]);
}
