// The NVTX collector, from the slots that it fills to the spool: what NVTX may pass, old and new, and what it must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "merge/match/nvtx_ranges.h"
#include "merge/match/payload.h"
#include "tests/unit/collect/child_run.h"

namespace jaxprof::nvtx {
namespace {

using spool::EventKind;
using test::ChildRun;
using test::ThreadEvent;

class Nvtx : public testing::Test {
 protected:
  void run(const char* scenario) { ASSERT_EQ(child_.run(JAXPROF_CHILD, scenario), 0) << scenario; }
  std::int64_t reported(const char* name) const { return child_.reported(name); }

  // Events of `kind`, in order.
  std::vector<spool::Event> events(const rundir::SpoolTrace& trace, EventKind kind) const {
    std::vector<spool::Event> found;
    for (const ThreadEvent& e : test::events_of(trace)) {
      if (e.event.kind == kind) found.push_back(e.event);
    }
    return found;
  }

  ChildRun child_;
};

TEST_F(Nvtx, FillsTheSlotsThatACopyHas) {
  run("tables");
  EXPECT_EQ(reported("result"), 1);
  EXPECT_EQ(reported("core"), 15);
  EXPECT_EQ(reported("core2"), 12);
  EXPECT_EQ(reported("old_result"), 1);
  EXPECT_EQ(reported("old_core"), 10) << "the ones before RangePop";
  EXPECT_EQ(reported("old_core2"), 1);
  EXPECT_EQ(reported("larger_core"), 15);
  EXPECT_EQ(child_.slot().nvtx_instances.load(), 3u);
  EXPECT_EQ(child_.trace().nvtx_instances(), 3u);
}

TEST_F(Nvtx, FillsTheExtensionsSlotsOfEveryRelease) {
  run("extensions");
  EXPECT_EQ(reported("result0"), 1);
  EXPECT_EQ(reported("filled0"), 0);
  EXPECT_EQ(reported("filled2"), 2);
  EXPECT_EQ(reported("filled63"), 7);
  EXPECT_EQ(reported("other_module"), 0);
  EXPECT_EQ(reported("other_segment"), 0);
}

TEST_F(Nvtx, ReturnsDepthsAsNvtxDoes) {
  run("depths");
  EXPECT_EQ(reported("pop_of_nothing"), -1);
  EXPECT_EQ(reported("push_a0"), 0);
  EXPECT_EQ(reported("push_a1"), 1);
  EXPECT_EQ(reported("push_b0"), 0);
  EXPECT_EQ(reported("pop_a1"), 1);
  EXPECT_EQ(reported("pop_a0"), 0);
  EXPECT_EQ(reported("pop_a_again"), -1);
  EXPECT_EQ(reported("pop_b0"), 0);
  EXPECT_EQ(reported("push_default"), 0);
  EXPECT_EQ(reported("pop_default"), 0);
  EXPECT_EQ(reported("push_foreign"), 0);
  EXPECT_EQ(reported("pop_foreign"), 0);
  EXPECT_EQ(child_.drops(Drop::kUnbalancedPop), 2u);
  const rundir::SpoolTrace trace = child_.trace();
  const auto pushes = events(trace, EventKind::kNvtxPush);
  ASSERT_EQ(pushes.size(), 5u);
  EXPECT_EQ(events(trace, EventKind::kNvtxPop).size(), 5u);
  const spool::NvtxContext a1 = spool::unpack_nvtx_context(pushes[1].fields[spool::nvtx_field::kContext]);
  EXPECT_EQ(trace.domain_name(a1.domain), "a");
  EXPECT_EQ(a1.depth, 1);
  EXPECT_EQ(spool::unpack_nvtx_context(pushes[4].fields[0]).domain, 0) << "a handle that we never gave is the default";
}

TEST_F(Nvtx, ReadsAttributesAsFarAsTheyGo) {
  run("attributes");
  EXPECT_EQ(reported("null_attributes"), 0);
  const rundir::SpoolTrace trace = child_.trace();
  const auto pushes = events(trace, EventKind::kNvtxPush);
  ASSERT_EQ(pushes.size(), 8u);
  EXPECT_EQ(pushes[0].id, spool::kNoString) << "a struct shorter than ours says nothing";
  EXPECT_EQ(pushes[1].id, spool::kNoString);
  EXPECT_EQ(spool::unpack_nvtx_context(pushes[1].fields[0]).category, 9u);
  EXPECT_EQ(pushes[1].fields[spool::nvtx_field::kPayloadType], 5u);
  EXPECT_EQ(static_cast<std::int64_t>(pushes[1].fields[spool::nvtx_field::kPayload]), -5);
  EXPECT_EQ(pushes[2].id, spool::kNoString);
  EXPECT_EQ(pushes[2].fields[spool::nvtx_field::kPayload], 0u);
  EXPECT_EQ(trace.text(pushes[3].id), "registered once");
  EXPECT_EQ(pushes[4].id, spool::kNoString) << "a string handle that we never gave";
  EXPECT_EQ(trace.text(pushes[5].id), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(trace.text(pushes[6].id), std::string(4093, 'w'));
  EXPECT_EQ(child_.drops(Drop::kPayloadTruncated), 1u);
}

TEST_F(Nvtx, TakesTheCallsOfTheDefaultDomain) {
  run("core_calls");
  EXPECT_EQ(reported("push"), 0);
  EXPECT_EQ(reported("push_null"), 1);
  EXPECT_EQ(reported("pop_null"), 1);
  EXPECT_EQ(reported("pop"), 0);
  EXPECT_EQ(reported("pop_more"), -1);
  EXPECT_EQ(reported("ids_differ"), 1);
  const rundir::SpoolTrace trace = child_.trace();
  EXPECT_EQ(events(trace, EventKind::kNvtxMark).size(), 2u);
  const auto starts = events(trace, EventKind::kNvtxStart);
  const auto ends = events(trace, EventKind::kNvtxEnd);
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0].fields[spool::nvtx_field::kRangeId], ends[0].fields[spool::nvtx_field::kEndRangeId]);
  EXPECT_EQ(trace.category_name(0, 4), "four");
}

TEST_F(Nvtx, DomainsOfOneNameAreOneOverCopies) {
  run("same_domain_twice");
  EXPECT_EQ(reported("same"), 1);
  EXPECT_EQ(reported("other"), 0);
  EXPECT_EQ(reported("null_is_new"), 1);
}

TEST_F(Nvtx, CopiesPayloadsAndCutsLargeOnes) {
  run("payloads");
  EXPECT_EQ(reported("push"), 0);
  EXPECT_EQ(reported("pop"), 0);
  const rundir::SpoolTrace trace = child_.trace();
  const auto schema = static_cast<std::uint64_t>(reported("schema"));
  const auto pushes = events(trace, EventKind::kNvtxPush);
  ASSERT_EQ(pushes.size(), 8u);
  const auto header_of = [](const spool::Event& event) {
    spool::PayloadHeader header{};
    if (event.payload_bytes >= sizeof header) std::memcpy(&header, event.payload, sizeof header);
    return header;
  };
  EXPECT_EQ(header_of(pushes[0]).schema, schema);
  EXPECT_EQ(header_of(pushes[0]).bytes, 16u);
  EXPECT_EQ(header_of(pushes[1]).bytes, 16u) << "the schema's size";
  EXPECT_EQ(header_of(events(trace, EventKind::kNvtxPop)[1]).bytes, 16u);
  EXPECT_EQ(header_of(pushes[2]).bytes, 0u) << "a null pointer has no bytes";
  EXPECT_EQ(pushes[3].payload_bytes, 0u);
  EXPECT_EQ(pushes[4].payload_bytes, spool::kMaxPayloadBytes);
  EXPECT_EQ(header_of(pushes[4]).full_bytes, 10'000u);
  EXPECT_EQ(pushes[5].payload_bytes, 16u * 24) << "sixteen of forty";
  EXPECT_EQ(header_of(pushes[6]).bytes, 16u);
  EXPECT_EQ(trace.text(pushes[6].id), "with payload");
  EXPECT_EQ(pushes[7].payload_bytes, 0u);
  EXPECT_EQ(child_.drops(Drop::kPayloadTruncated), 2u);
  const rundir::Schema* known = trace.schema(spool::unpack_nvtx_context(pushes[0].fields[0]).domain, schema);
  ASSERT_NE(known, nullptr);
  ASSERT_EQ(known->fields.size(), 2u);
  EXPECT_EQ(known->fields[1].name, "root");
}

TEST_F(Nvtx, FollowsNothingThatASchemasMaskDoesNotPromise) {
  run("odd_schemas");
  EXPECT_EQ(reported("null"), 0);
  EXPECT_EQ(reported("dynamic"), 1);
  EXPECT_EQ(reported("next"), 1);
  EXPECT_EQ(reported("static"), 1);
  EXPECT_EQ(reported("enum"), 1);
  EXPECT_EQ(reported("null_enum"), 0);
  EXPECT_EQ(child_.drops(Drop::kPayloadTruncated), 1u) << "300 entries, 256 kept";
}

TEST_F(Nvtx, ARingThatOverflowsNeverShiftsAPair) {
  child_.plan().ring_bytes = 8192;
  run("lossy_ranges");
  ASSERT_GT(child_.drops(Drop::kRingFull), 0u) << "nothing was lost: this run proves nothing";
  const rundir::SpoolTrace trace = child_.trace();
  match::NvtxRangeBuilder builder;
  match::PayloadReader payloads(trace);
  trace.for_each_event([&builder](std::uint32_t thread, const spool::Event& event) { builder.add(thread, event); });
  const match::NvtxRanges ranges = std::move(builder).finish();
  std::size_t ended = 0;
  for (const match::NvtxRange& range : ranges.ranges) {
    if (!range.has_end) continue;
    ++ended;
    std::vector<match::PayloadField> fields;
    payloads.read_all(range.domain, range.start_payload, &fields);
    payloads.read_all(range.domain, range.end_payload, &fields);
    ASSERT_EQ(fields.size(), 2u);
    ASSERT_EQ(fields[0].value, fields[1].value) << "a push with the pop of another range";
  }
  EXPECT_GT(ended, 50u);
  EXPECT_LT(ended, static_cast<std::size_t>(reported("ranges")));
}

}  // namespace
}  // namespace jaxprof::nvtx
