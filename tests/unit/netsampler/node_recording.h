// What a node's spool holds, read back whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/spool/clock_codec.h"
#include "agent/spool/clock_record.h"
#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"
#include "agent/spool/spool_reader.h"

namespace jaxprof::netsampler {

struct RecordedRow {
  std::uint64_t stamp = 0;
  std::uint32_t read_us = 0;
  std::uint32_t flags = 0;
  bool is_partial = false;
  std::vector<std::uint64_t> values;
};

struct RecordedStream {
  spool::SampleSubject subject_kind{};
  std::uint32_t subject = 0;
  std::vector<std::string> columns;
  std::vector<RecordedRow> rows;
};

struct NodeRecording {
  std::string error;  // why it cannot be read; "" if it can
  spool::SpoolIdentity identity;
  std::map<spool::StringId, std::string> texts;
  std::vector<spool::NicPortState> ports;
  std::vector<spool::NodeGpuState> gpus;
  std::vector<spool::NicEventState> events;
  std::vector<spool::NodeObserverState> observers;
  std::vector<spool::NodeTicksState> ticks;
  std::vector<std::pair<spool::NodeNote, std::string>> notes;
  std::map<std::uint32_t, RecordedStream> streams;
  std::vector<spool::ClockReading> readings;
  std::vector<spool::ProbeBurst> bursts;
  std::vector<spool::ClockServiceState> services;
  std::vector<spool::ClockPeerState> peers;
  std::vector<spool::ClockDisciplineState> disciplines;
  std::vector<spool::ClockPacketsState> packets;
  bool has_unknown_peer = false;  // a burst came before its peer's record
  std::size_t anchors = 0;
  std::size_t sample_blocks = 0;
  std::uint64_t skipped_sections = 0;
  std::uint64_t footer_rows = 0;
  bool has_unknown_stream = false;  // a row came before its stream's record
  spool::SpoolHealth health;
};

NodeRecording read_node_spool(const std::string& path);

}  // namespace jaxprof::netsampler
