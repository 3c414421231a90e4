// A spool is read twice: what is in it, then its events. Of what the second reading finds otherwise, or at a time that
// cannot be, the file tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "merge/assembly/part_source.h"
#include "tests/unit/assembly/findings_case.h"

namespace jaxprof::assembly {
namespace {

using test::findings;
using test::FindingsTest;
using test::kSecond;
using test::Recording;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Recording with_ranges(Recording recorded) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    recorded.push(1, 0, 0, "range", 1000 * i + 10);
    recorded.pop(1, 0, 0, 1000 * i + 20);
  }
  return recorded;
}

TEST_F(FindingsTest, ASpoolThatVanishesBetweenTheReadingsIsToldAndTheRestIsThere) {
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    run_.add_rank(with_ranges(recording(rank, "n0", 100, 200, 3)), rank, 3, "n0");
  }
  const RunSources sources = open_sources(rundir::read_run_directory(run_.path())->runs.at(0));
  std::filesystem::remove(run_.file("rank1.jxspool"));
  runfile::RunTables events;
  MemorySink sink(&events);
  Room room;
  room.n_threads = 1;
  LocalParts parts(sources, {0, 1, 2}, room.n_threads, room.budget_bytes);
  const auto assembled = assemble_run(sources, room, &parts, &sink);
  ASSERT_TRUE(assembled) << assembled.error().message;
  EXPECT_TRUE(assembled->is_partial);
  EXPECT_THAT(findings(assembled->tables, "spool.gone"),
              ElementsAre(AllOf(HasSubstr("rank 1 on n0: its spool could be read a moment ago: "),
                                HasSubstr("No such file or directory"))));
  EXPECT_THAT(assembled->tables.nvtx_process_offset, ElementsAre(0, 3, 3, 6));
  EXPECT_EQ(events.nvtx.start_ns.size(), 6u);
}

// An agent reads its clock before it records; a stamp from before is a fault of whoever made it.
TEST_F(FindingsTest, EventsFromBeforeTheRunStandAtItsBegin) {
  Recording recorded(0, 1, "n0");
  recorded.anchor({50'000, 50'000, 100 * kSecond, 50'000, 10});
  recorded.anchor({90'000, 90'000, 100 * kSecond + 40'000, 90'000, 10});
  for (const std::uint64_t stamp : {20'000U, 30'000U, 60'000U}) {
    recorded.push(1, 0, 0, "range", stamp);
    recorded.pop(1, 0, 0, stamp + 10);
  }
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(
      findings(tables(), "event.before-run"),
      ElementsAre("rank 0 on n0: 2 events have a time before anything of the run was recorded, and stand at its "
                  "begin"));
  EXPECT_THAT(tables().nvtx.start_ns, ElementsAre(0, 0, 10'000));
  EXPECT_THAT(tables().nvtx.dur_ns, ElementsAre(10, 10, 10));
}

TEST_F(FindingsTest, EventsWithinTheRunAreNoFinding) {
  run_.add_rank(with_ranges(recording(0, "n0", 100, 200)), 0, 1, "n0");
  assemble();
  EXPECT_THAT(findings(tables(), "event.before-run"), IsEmpty());
  EXPECT_THAT(findings(tables(), "spool.gone"), IsEmpty());
}

}  // namespace
}  // namespace jaxprof::assembly
