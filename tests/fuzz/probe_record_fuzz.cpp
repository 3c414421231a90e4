// The bytes of the probe's pipe, in pieces whose size they choose, up to boards, rows and notes.
#include <algorithm>

#include "netsampler/gpu/gpu_roster.h"
#include "netsampler/gpu/probe_parser.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;
using namespace jaxprof::netsampler;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  GpuRoster roster([](const std::string& pci) { return static_cast<int>(pci.size()); });
  GpuUpdate update;
  std::size_t n_records = 0;
  const auto visit = [&](const ProbeRecord& record) {
    ++n_records;
    return roster.apply(record, &update);
  };
  ProbeParser parser;
  bool is_sound = true;
  const std::size_t piece = size == 0 ? 1 : 1 + bytes[size - 1] * std::size_t{7};
  for (std::size_t at = 0; at < size; at += piece) {
    const bool was_sound = is_sound;
    is_sound = parser.feed({bytes + at, std::min(piece, size - at)}, visit);
    fuzz::demand(was_sound || !is_sound, "a stream that was given up stays so");
  }
  fuzz::demand(n_records <= size / sizeof(ProbeRecord), "a record takes its bytes");
  fuzz::demand(roster.boards().size() <= kMaxProbeGpus, "boards have a limit");
  for (const GpuBoard& board : roster.boards()) {
    fuzz::plant_fault(board.memory_bytes >> 48U != 0);
    fuzz::demand(!board.uuid.empty(), "a board has an identity");
    fuzz::demand(!board.instance_of.has_value() || *board.instance_of < board.number, "an instance follows its board");
    fuzz::demand(std::all_of(board.name.begin(), board.name.end(), [](char c) { return c >= ' ' && c <= '~'; }),
                 "a name can be printed");
  }
  for (const GpuRow& row : update.rows) {
    fuzz::demand(row.board < roster.boards().size() && !roster.boards()[row.board].instance_of.has_value(),
                 "a row is of a board");
  }
  return 0;
}
