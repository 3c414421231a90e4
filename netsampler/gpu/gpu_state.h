// A board and its samples as the spool keeps them: pure conversion, for whoever writes the node's spool.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"
#include "netsampler/gpu/gpu_board.h"

namespace jaxprof::netsampler {

// Numbers of the strings of a board's facts; kNoString where a text is empty.
struct GpuStrings {
  spool::StringId name;
  spool::StringId uuid;
  spool::StringId pci;
  spool::StringId driver;
};

// The state record of a board or instance.
spool::NodeGpuState gpu_state(const GpuBoard& board, const GpuStrings& strings);

// True if samples of it will come, so that it needs a stream: of instances there are none.
bool has_samples(const GpuBoard& board);

// The state record of a board's stream, followed by its columns. `names` has the number of each column's name, in the
// order of gpu_columns(). A row is always complete.
std::vector<std::uint8_t> gpu_stream_state(std::uint32_t stream, std::uint32_t board,
                                           const std::vector<spool::StringId>& names);

// The row as the encoder takes it; it refers to the values of `row`.
spool::SampleRow gpu_sample_row(const GpuRow& row);

}  // namespace jaxprof::netsampler
