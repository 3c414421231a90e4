#include "netsampler/gpu/gpu_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "netsampler/gpu/gpu_columns.h"

namespace jaxprof::netsampler {
namespace {

GpuBoard some_board() {
  GpuBoard board;
  board.number = 3;
  board.numa = 1;
  board.memory_bytes = 80;
  board.power_limit_mw = 700;
  board.sm_clock_max_mhz = 1980;
  board.stamp = 12345;
  return board;
}

TEST(GpuState, HasTheFactsOfTheBoardAndTheNumbersOfItsTexts) {
  const spool::NodeGpuState state = gpu_state(some_board(), {.name = 1, .uuid = 2, .pci = 3, .driver = 4});
  EXPECT_EQ(state.header.kind, static_cast<std::uint16_t>(spool::StateKind::kNodeGpu));
  EXPECT_EQ(state.header.bytes, sizeof state);
  EXPECT_EQ(state.gpu, 3);
  EXPECT_EQ(state.numa, 1);
  EXPECT_EQ(state.name, 1);
  EXPECT_EQ(state.uuid, 2);
  EXPECT_EQ(state.pci, 3);
  EXPECT_EQ(state.driver, 4);
  EXPECT_EQ(state.memory_bytes, 80);
  EXPECT_EQ(state.power_limit_mw, 700);
  EXPECT_EQ(state.sm_clock_max_mhz, 1980);
  EXPECT_EQ(state.stamp, 12345);
}

TEST(GpuState, GivesNoStreamToAnInstance) {
  GpuBoard board = some_board();
  EXPECT_TRUE(has_samples(board));
  board.instance_of = 0;
  EXPECT_FALSE(has_samples(board));
}

TEST(GpuStreamState, HasAllColumnsWithTheirUnits) {
  std::vector<spool::StringId> names(kGpuColumnCount);
  std::iota(names.begin(), names.end(), 10U);
  const std::vector<std::uint8_t> bytes = gpu_stream_state(7, 3, names);
  ASSERT_EQ(bytes.size(), sizeof(spool::SampleStreamState) + kGpuColumnCount * sizeof(spool::SampleColumn));
  EXPECT_EQ(bytes.size() % 8, 0);
  spool::SampleStreamState state;
  std::memcpy(&state, bytes.data(), sizeof state);
  EXPECT_EQ(state.header.kind, static_cast<std::uint16_t>(spool::StateKind::kSampleStream));
  EXPECT_EQ(state.header.bytes, bytes.size());
  EXPECT_EQ(state.stream, 7);
  EXPECT_EQ(state.subject_kind, static_cast<std::uint32_t>(spool::SampleSubject::kGpu));
  EXPECT_EQ(state.subject, 3);
  EXPECT_EQ(state.column_count, kGpuColumnCount);
  EXPECT_EQ(state.partial_count, kGpuColumnCount);
  for (std::size_t i = 0; i < kGpuColumnCount; ++i) {
    spool::SampleColumn column;
    std::memcpy(&column, bytes.data() + sizeof state + i * sizeof column, sizeof column);
    EXPECT_EQ(column.name, 10 + i);
    EXPECT_EQ(column.scale, gpu_columns()[i].scale);
    EXPECT_EQ(column.unit, static_cast<std::uint8_t>(gpu_columns()[i].unit));
    EXPECT_EQ(column.kind, static_cast<std::uint8_t>(gpu_columns()[i].kind));
    EXPECT_EQ(column.bits, gpu_columns()[i].bits);
    EXPECT_EQ(column.is_error != 0, gpu_columns()[i].is_error);
  }
}

TEST(GpuSampleRow, GoesThroughTheCodec) {
  GpuRow row;
  row.stamp = 99;
  row.read_us = 5;
  row.flags = spool::kSampleReset;
  row.values.fill(spool::kMissingSample);
  row.values[0] = 1980;
  spool::SampleEncoder encoder(7, kGpuColumnCount, kGpuColumnCount);
  encoder.add(gpu_sample_row(row));
  std::vector<std::uint8_t> payload;
  encoder.append_section(&payload);
  int count = 0;
  ASSERT_TRUE(spool::SampleDecoder().decode(payload, [&](std::uint32_t stream, const spool::SampleRow& seen) {
    ++count;
    EXPECT_EQ(stream, 7);
    EXPECT_EQ(seen.stamp, 99);
    EXPECT_EQ(seen.read_us, 5);
    EXPECT_EQ(seen.flags, spool::kSampleReset);
    EXPECT_FALSE(seen.is_partial);
    EXPECT_TRUE(std::equal(seen.values.begin(), seen.values.end(), row.values.begin(), row.values.end()));
  }));
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace jaxprof::netsampler
