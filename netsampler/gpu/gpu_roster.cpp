#include "netsampler/gpu/gpu_roster.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>

#include "agent/spool/sample_codec.h"
#include "netsampler/gpu/probe_parser.h"
#include "netsampler/gpu/row_flags.h"

namespace jaxprof::netsampler {
namespace {

static_assert(kProbeMissing == spool::kMissingSample);

// Up to the zero, with a '?' for what is not printable ASCII: it is printed and stored.
template <std::size_t kBytes>
std::string text_of(const char (&text)[kBytes]) {
  std::string result(text, strnlen(text, kBytes));
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) c = '?';
  }
  return result;
}

// As the kernel writes it; GPUs have function 0.
std::string pci_of(const ProbeGpu& gpu) {
  if (gpu.has_pci == 0) return {};
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", gpu.pci_domain, gpu.pci_bus, gpu.pci_device);
  return text.data();
}

}  // namespace

bool GpuRoster::add_board(const ProbeGpu& gpu, GpuUpdate* update) {
  if (gpu.gpu != boards_.size() || gpu.gpu >= kMaxProbeGpus || gpu.uuid[0] == '\0') return false;
  if (gpu.parent != kNoProbeGpu && (gpu.parent >= gpu.gpu || boards_[gpu.parent].instance_of.has_value())) return false;
  GpuBoard board;
  board.number = gpu.gpu;
  board.name = text_of(gpu.name);
  board.uuid = text_of(gpu.uuid);
  board.pci = pci_of(gpu);
  board.driver = text_of(gpu.driver);
  board.numa = numa_of_(board.pci);
  board.memory_bytes = gpu.memory_bytes;
  board.power_limit_mw = gpu.power_limit_mw;
  board.sm_clock_max_mhz = gpu.sm_clock_max_mhz;
  if (gpu.parent != kNoProbeGpu) board.instance_of = gpu.parent;
  board.stamp = gpu.stamp;
  update->boards.push_back(board);
  boards_.push_back(std::move(board));
  last_rows_.emplace_back();
  return true;
}

bool GpuRoster::add_row(const ProbeSample& sample, GpuUpdate* update) {
  if (sample.gpu >= boards_.size()) return false;
  GpuBoard& board = boards_[sample.gpu];
  if (board.instance_of.has_value() || board.is_lost) return false;
  std::optional<GpuRow>& last = last_rows_[sample.gpu];
  if (last.has_value() && sample.stamp < last->stamp) return false;
  GpuRow row;
  row.board = sample.gpu;
  row.stamp = sample.stamp;
  const std::uint64_t read_us = sample.read_ns / 1000 + (sample.read_ns % 1000 != 0 ? 1 : 0);
  row.read_us = static_cast<std::uint32_t>(std::min<std::uint64_t>(read_us, std::numeric_limits<std::uint32_t>::max()));
  std::copy(std::begin(sample.values), std::end(sample.values), row.values.begin());
  if (last.has_value()) row.flags |= compare_gpu_rows(*last, row);
  if ((sample.flags & kProbeLost) != 0) {
    row.flags |= spool::kSampleLast;
    board.is_lost = true;
    board.stamp = sample.stamp;
    update->boards.push_back(board);
    update->notes.push_back(
        {spool::NodeNote::kGpuTrouble, board.uuid + " (" + (board.pci.empty() ? board.name : board.pci) +
                                           ") is lost: it fell off the bus or must be reset; it is not read any more"});
  }
  last = row;
  has_rows_ = true;
  update->rows.push_back(row);
  return true;
}

bool GpuRoster::add_note(const ProbeNote& note, GpuUpdate* update) {
  const auto kind = static_cast<spool::NodeNote>(note.note);
  if (kind != spool::NodeNote::kNoGpu && kind != spool::NodeNote::kGpuTrouble) return false;
  has_reason_ = has_reason_ || kind == spool::NodeNote::kNoGpu;
  update->notes.push_back({kind, text_of(note.text)});
  return true;
}

bool GpuRoster::apply(const ProbeRecord& record, GpuUpdate* update) {
  switch (static_cast<ProbeKind>(record.kind)) {
    case ProbeKind::kHello:
      return true;
    case ProbeKind::kGpu:
      return add_board(payload_of<ProbeGpu>(record), update);
    case ProbeKind::kSample:
      return add_row(payload_of<ProbeSample>(record), update);
    case ProbeKind::kNote:
      return add_note(payload_of<ProbeNote>(record), update);
  }
  return false;
}

}  // namespace jaxprof::netsampler
