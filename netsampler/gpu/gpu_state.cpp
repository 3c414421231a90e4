#include "netsampler/gpu/gpu_state.h"

#include <cassert>
#include <cstring>

#include "netsampler/gpu/gpu_columns.h"

namespace jaxprof::netsampler {
namespace {

template <typename Record>
void append(const Record& record, std::vector<std::uint8_t>* bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&record);
  bytes->insert(bytes->end(), begin, begin + sizeof record);
}

}  // namespace

spool::NodeGpuState gpu_state(const GpuBoard& board, const GpuStrings& strings) {
  spool::NodeGpuState state{};
  state.header.kind = static_cast<std::uint16_t>(spool::StateKind::kNodeGpu);
  state.header.bytes = sizeof state;
  state.gpu = board.number;
  state.numa = board.numa;
  state.name = strings.name;
  state.uuid = strings.uuid;
  state.pci = strings.pci;
  state.driver = strings.driver;
  state.memory_bytes = board.memory_bytes;
  state.power_limit_mw = board.power_limit_mw;
  state.sm_clock_max_mhz = board.sm_clock_max_mhz;
  state.stamp = board.stamp;
  return state;
}

bool has_samples(const GpuBoard& board) {
  return !board.instance_of.has_value();
}

std::vector<std::uint8_t> gpu_stream_state(std::uint32_t stream, std::uint32_t board,
                                           const std::vector<spool::StringId>& names) {
  const auto columns = gpu_columns();
  assert(names.size() == columns.size());
  spool::SampleStreamState state{};
  state.header.kind = static_cast<std::uint16_t>(spool::StateKind::kSampleStream);
  state.header.bytes = static_cast<std::uint32_t>(sizeof state + columns.size() * sizeof(spool::SampleColumn));
  state.stream = stream;
  state.subject_kind = static_cast<std::uint32_t>(spool::SampleSubject::kGpu);
  state.subject = board;
  state.column_count = static_cast<std::uint32_t>(columns.size());
  state.partial_count = state.column_count;
  std::vector<std::uint8_t> bytes;
  append(state, &bytes);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    spool::SampleColumn column{};
    column.name = names[i];
    column.scale = columns[i].scale;
    column.unit = static_cast<std::uint8_t>(columns[i].unit);
    column.kind = static_cast<std::uint8_t>(columns[i].kind);
    column.bits = columns[i].bits;
    column.is_error = columns[i].is_error ? 1 : 0;
    append(column, &bytes);
  }
  return bytes;
}

spool::SampleRow gpu_sample_row(const GpuRow& row) {
  spool::SampleRow sample;
  sample.stamp = row.stamp;
  sample.read_us = row.read_us;
  sample.flags = row.flags;
  sample.values = row.values;
  return sample;
}

}  // namespace jaxprof::netsampler
