#include "tests/unit/netsampler/node_recording.h"

#include <algorithm>
#include <cstring>

namespace jaxprof::netsampler {
namespace {

using spool::StateKind;

template <typename Record>
void keep(std::span<const std::uint8_t> record, std::vector<Record>* kept) {
  Record fixed{};
  if (spool::read_state(record, &fixed)) kept->push_back(fixed);
}

void take_text(std::span<const std::uint8_t> record, NodeRecording* recording) {
  spool::StringState fixed{};
  std::span<const std::uint8_t> tail;
  if (!spool::read_state(record, &fixed, &tail) || tail.size() < fixed.length) return;
  recording->texts[fixed.id].assign(reinterpret_cast<const char*>(tail.data()), fixed.length);
}

void take_stream(std::span<const std::uint8_t> record, NodeRecording* recording) {
  spool::SampleStreamState fixed{};
  std::span<const std::uint8_t> tail;
  if (!spool::read_state(record, &fixed, &tail)) return;
  RecordedStream& stream = recording->streams[fixed.stream];
  stream.subject_kind = static_cast<spool::SampleSubject>(fixed.subject_kind);
  stream.subject = fixed.subject;
  for (std::uint32_t i = 0; i < fixed.column_count && tail.size() >= sizeof(spool::SampleColumn); ++i) {
    spool::SampleColumn column{};
    std::memcpy(&column, tail.data(), sizeof column);
    tail = tail.subspan(sizeof column);
    stream.columns.push_back(recording->texts[column.name]);
  }
}

void take_note(std::span<const std::uint8_t> record, NodeRecording* recording) {
  spool::NodeNoteState fixed{};
  if (!spool::read_state(record, &fixed)) return;
  recording->notes.emplace_back(static_cast<spool::NodeNote>(fixed.note), recording->texts[fixed.text]);
}

void take_state(std::span<const std::uint8_t> payload, NodeRecording* recording) {
  spool::StateDecoder decoder(payload);
  StateKind kind{};
  std::span<const std::uint8_t> record;
  while (decoder.next(&kind, &record)) {
    switch (kind) {
      case StateKind::kString:
        take_text(record, recording);
        break;
      case StateKind::kNicPort:
        keep(record, &recording->ports);
        break;
      case StateKind::kNodeGpu:
        keep(record, &recording->gpus);
        break;
      case StateKind::kNicEvent:
        keep(record, &recording->events);
        break;
      case StateKind::kNodeObserver:
        keep(record, &recording->observers);
        break;
      case StateKind::kNodeTicks:
        keep(record, &recording->ticks);
        break;
      case StateKind::kSampleStream:
        take_stream(record, recording);
        break;
      case StateKind::kNodeNote:
        take_note(record, recording);
        break;
      case StateKind::kClockService:
        keep(record, &recording->services);
        break;
      case StateKind::kClockPeer:
        keep(record, &recording->peers);
        break;
      case StateKind::kClockDiscipline:
        keep(record, &recording->disciplines);
        break;
      case StateKind::kClockPackets:
        keep(record, &recording->packets);
        break;
      default:
        recording->error = "a record of a kind that no node has";
    }
  }
  if (decoder.is_damaged()) recording->error = "a damaged state block";
}

void take_clock(std::span<const std::uint8_t> payload, NodeRecording* recording) {
  const auto is_of = [](std::uint32_t number) {
    return [number](const spool::ClockPeerState& peer) { return peer.peer == number; };
  };
  const bool is_sound = spool::decode_clock_block(
      payload, {[&](const spool::ClockReading& reading) { recording->readings.push_back(reading); },
                [&](const spool::ProbeBurst& burst) {
                  const auto& peers = recording->peers;
                  if (std::none_of(peers.begin(), peers.end(), is_of(burst.peer))) recording->has_unknown_peer = true;
                  recording->bursts.push_back(burst);
                }});
  if (!is_sound) recording->error = "a damaged clock block";
}

}  // namespace

NodeRecording read_node_spool(const std::string& path) {
  NodeRecording recording;
  auto reader = spool::SpoolReader::open(path);
  if (!reader) {
    recording.error = reader.error().message;
    return recording;
  }
  spool::SampleDecoder decoder;
  for (spool::Block block; reader->next(&block);) {
    switch (block.kind) {
      case spool::BlockKind::kIdentity:
        recording.identity = spool::SpoolIdentity::parse(block.payload);
        break;
      case spool::BlockKind::kAnchors:
        recording.anchors += spool::parse_anchors(block.payload).size();
        break;
      case spool::BlockKind::kState:
        take_state(block.payload, &recording);
        break;
      case spool::BlockKind::kClock:
        take_clock(block.payload, &recording);
        break;
      case spool::BlockKind::kSamples: {
        ++recording.sample_blocks;
        const bool is_sound = decoder.decode(block.payload, [&](std::uint32_t stream, const spool::SampleRow& row) {
          if (!recording.streams.contains(stream)) recording.has_unknown_stream = true;
          recording.streams[stream].rows.push_back(
              {row.stamp, row.read_us, row.flags, row.is_partial, {row.values.begin(), row.values.end()}});
        });
        if (!is_sound) recording.error = "a damaged samples block";
        break;
      }
      case spool::BlockKind::kFooter: {
        spool::Footer footer;
        if (!spool::parse_footer(block.payload, &footer)) recording.error = "a damaged footer";
        recording.footer_rows = footer.record.events;
        break;
      }
      default:
        recording.error = "a block of a kind that no node has";
    }
  }
  recording.skipped_sections = decoder.skipped_sections();
  recording.health = reader->health();
  return recording;
}

}  // namespace jaxprof::netsampler
