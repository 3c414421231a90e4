// Messages between the processes of a merge: what arrives is what was sent, and of what is damaged is told.
#include "merge/mpi/part_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace jaxprof::merge {
namespace {

using testing::HasSubstr;

assembly::PartHead whole_head() {
  assembly::PartHead head;
  head.strings.intern("one");
  head.counts.kernels = 5;
  head.n_events = 7;
  head.devices.push_back({3, {}, "a GPU"});
  head.comms.push_back({9, 1, 2, 3, 4, 5, "world"});
  head.segments.push_back({1, 2, 3, 4, 5, 6, 7, 8});
  head.steps.has_steps = true;
  head.steps.marker = "step";
  head.steps.own.emplace().numbers = assembly::StepNumbers({1, 2, 5});
  head.steps.marks.emplace().alternatives["other"] = 4;
  head.findings.add(runfile::Severity::kError, "code", {1, 2, 3}, 4, "text");
  return head;
}

assembly::Placement whole_placement() {
  assembly::Placement placement;
  placement.epoch_ns = 5;
  placement.first_rows.kernels = 6;
  placement.texts = {runfile::StringId{0}, runfile::StringId{7}};
  placement.devices = {{0, 3}};
  placement.configs = {1, 2};
  return placement;
}

assembly::PlacedPart whole_rows() {
  runfile::EventTables rows;
  rows.kernels.start_ns = {1, 2, 3};
  rows.kernels.dur_ns = {4, 5, 6};
  assembly::PlacedPart part;
  part.rows = encode_part(rows, runfile::RowPositions::none(), runfile::Compression::kGzip);
  part.calls.rows.seq = {1, 2};
  part.calls.comm_hashes = {9};
  part.calls.calls_in_plan = {0, 1};
  part.early = 3;
  return part;
}

template <typename T>
std::string refusal(const Result<T>& unpacked) {
  if (unpacked) return "no error";
  EXPECT_EQ(unpacked.error().code, ErrorCode::kInputUnreadable);
  return unpacked.error().message;
}

// Puts `value` where `message` has it; it stands for a length.
Message with_number(Message message, std::size_t at, std::uint64_t value) {
  std::memcpy(message.data() + at, &value, sizeof value);
  return message;
}

TEST(PartMessages, AHeadArrivesAsItWas) {
  const assembly::PartHead head = whole_head();
  const auto unpacked = unpack_head(pack(head));
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  const assembly::PartHead& other = *unpacked;
  EXPECT_EQ(other.strings.text(static_cast<runfile::StringId>(1)), "one");
  EXPECT_EQ(other.counts.kernels, 5u);
  EXPECT_EQ(other.n_events, 7u);
  EXPECT_EQ(other.devices.at(0).name, "a GPU");
  EXPECT_EQ(other.devices.at(0).ordinal, 3);
  EXPECT_EQ(other.comms.at(0).name, "world");
  EXPECT_EQ(other.comms.at(0).thread, 5u);
  EXPECT_EQ(other.segments.at(0).first_step, 8);
  EXPECT_EQ(other.steps.own->numbers, head.steps.own->numbers);
  EXPECT_EQ(other.steps.marks->alternatives.at("other"), 4u);
  EXPECT_TRUE(other.findings.is_partial());
  EXPECT_EQ(other.findings.findings().at(0).text, "text");
  EXPECT_EQ(pack(other), pack(head));
}

TEST(PartMessages, APlacementAndRowsArriveAsTheyWere) {
  const auto placement = unpack_placement(pack(whole_placement()));
  ASSERT_TRUE(placement) << placement.error().message;
  EXPECT_EQ(placement->epoch_ns, 5);
  EXPECT_EQ(placement->first_rows.kernels, 6u);
  EXPECT_EQ(placement->texts, whole_placement().texts);
  EXPECT_EQ(placement->devices, whole_placement().devices);
  EXPECT_EQ(placement->configs, whole_placement().configs);
  const auto rows = unpack_rows(pack(whole_rows()));
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->early, 3u);
  EXPECT_EQ(std::get<runfile::EncodedPart>(rows->rows), std::get<runfile::EncodedPart>(whole_rows().rows));
  EXPECT_EQ(rows->calls.rows.seq, whole_rows().calls.rows.seq);
  EXPECT_EQ(rows->calls.calls_in_plan, whole_rows().calls.calls_in_plan);
}

TEST(PartMessages, WhatIsCutAnywhereIsRefused) {
  const Message head = pack(whole_head());
  for (std::size_t n = 0; n < head.size(); ++n) {
    EXPECT_THAT(refusal(unpack_head({head.begin(), head.begin() + static_cast<std::ptrdiff_t>(n)})),
                HasSubstr("a message of another process of this merge "))
        << n;
  }
  const Message rows = pack(whole_rows());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    EXPECT_FALSE(unpack_rows({rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n)})) << n;
  }
}

TEST(PartMessages, WhatFollowsIsRefused) {
  Message head = pack(whole_head());
  head.push_back(std::byte{0});
  EXPECT_THAT(refusal(unpack_head(head)), HasSubstr("is too long"));
}

// A length that is not there is refused before memory is asked for it.
TEST(PartMessages, WhatCountsMoreThanItHoldsIsRefused) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  EXPECT_THAT(refusal(unpack_head(with_number(pack(whole_head()), 0, kHuge))), HasSubstr("counts more than it holds"));
  const Message rows = pack(whole_rows());
  EXPECT_THAT(refusal(unpack_rows(with_number(rows, 8, kHuge))), HasSubstr("counts more than it holds"));
  EXPECT_THAT(refusal(unpack_rows(with_number(rows, 16, kHuge))), HasSubstr("counts more than it holds"));
  std::uint64_t calls_bytes = 0;
  std::memcpy(&calls_bytes, rows.data() + 8, sizeof calls_bytes);
  EXPECT_THAT(refusal(unpack_rows(with_number(rows, 16 + calls_bytes, kHuge))), HasSubstr("is cut or damaged"));
}

}  // namespace
}  // namespace jaxprof::merge
