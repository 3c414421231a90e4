// Verdicts and rows of jaxprof-study clock.
#include "merge/study/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "merge/runfile/table_rows.h"

namespace jaxprof::study {
namespace {

using runfile::ClockMethod;
using runfile::RunTables;
using testing::Contains;
using testing::HasSubstr;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void add_node(RunTables* run, const std::string& host, ClockMethod method, double sigma_ns, double bound_ns) {
  const std::size_t node = runfile::add_row(run->nodes);
  run->nodes.host[node] = run->strings.intern(host);
  const std::size_t row = runfile::add_row(run->clock_nodes);
  run->clock_nodes.node[row] = static_cast<std::uint32_t>(node);
  run->clock_nodes.method[row] = method;
  run->clock_nodes.sigma_ns[row] = sigma_ns;
  run->clock_nodes.bound_ns[row] = bound_ns;
  run->clock_nodes.wall_offset_ns[row] = 3'200'000;
  run->clock_nodes.drift_ppb[row] = -12'500;
}

RunTables probed_run() {
  RunTables run;
  run.attributes.clock_method = "udp_kernel_stamps";
  run.attributes.clock_sigma_ns = 310;
  run.attributes.clock_bound_ns = 6'100;
  add_node(&run, "n0", ClockMethod::kReference, 0, 0);
  add_node(&run, "n1", ClockMethod::kUdpKernelStamps, 310, 6'100);
  const std::size_t link = runfile::add_row(run.clock_links);
  run.clock_links.a[link] = 0;
  run.clock_links.b[link] = 1;
  run.clock_links.n_bursts[link] = 12;
  run.clock_links.floor_rtt_ns[link] = 9'000;
  run.clock_links.residual_ns[link] = -20'000;
  run.clock_links.is_flagged[link] = 0;
  return run;
}

Cell at(const Table& table, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row)[i];
  }
  ADD_FAILURE() << "no column " << name;
  return Missing{};
}

TEST(ClockStudy, SaysWithinWhatTimesCompare) {
  const Table table = clock(probed_run());
  EXPECT_EQ(table.verdict, "times of different nodes compare within 6.1 µs (likely error 310 ns), by probes");
  EXPECT_EQ(at(table, 1, "method"), Cell{std::string("udp_kernel_stamps")});
  EXPECT_EQ(at(table, 1, "drift_ppm"), Cell{-12.5});
  EXPECT_EQ(at(table, 1, "wall_offset_ns"), Cell{std::int64_t{3'200'000}});
  EXPECT_EQ(at(table, 1, "floor_rtt_ns"), Cell{9'000.0});
  EXPECT_EQ(at(table, 1, "residual_ns"), Cell{20'000.0});
  EXPECT_EQ(at(table, 1, "cpu_ns"), Cell{Missing{}});
}

TEST(ClockStudy, NamesAsymmetricLinks) {
  RunTables run = probed_run();
  run.clock_links.is_flagged[0] = 1;
  EXPECT_THAT(clock(run).notes, Contains("finding: link n0 <-> n1 is asymmetric by 40 µs"));
}

TEST(ClockStudy, SaysThatNothingCompares) {
  RunTables run;
  add_node(&run, "n0", ClockMethod::kReference, 0, 0);
  add_node(&run, "n1", ClockMethod::kWallClockUnknown, kUnknown, kUnknown);
  const Table table = clock(run);
  EXPECT_THAT(table.verdict, HasSubstr("cannot be compared"));
  EXPECT_EQ(at(table, 1, "wall_offset_ns"), Cell{Missing{}}) << "the wall clock is the axis there";
  EXPECT_EQ(at(table, 1, "bound_ns"), Cell{Missing{}});
}

TEST(ClockStudy, SaysHowManyNodesDoNotCompare) {
  RunTables run = probed_run();
  add_node(&run, "n2", ClockMethod::kWallClockUnknown, kUnknown, kUnknown);
  EXPECT_THAT(clock(run).verdict, HasSubstr("times of 1 of 3 nodes cannot be compared"));
}

TEST(ClockStudy, OneNodeComparesExactly) {
  RunTables run;
  add_node(&run, "n0", ClockMethod::kReference, 0, 0);
  EXPECT_THAT(clock(run).verdict, HasSubstr("one node"));
}

TEST(ClockStudy, TellsOfStepsAndOfCollectivesThatCannotBe) {
  RunTables run = probed_run();
  const std::size_t step = runfile::add_row(run.clock_steps);
  run.clock_steps.node[step] = 1;
  run.clock_steps.time_ns[step] = 41'200'000'000;
  run.clock_steps.size_ns[step] = -500'000;
  run.clock_steps.kind[step] = runfile::ClockStepKind::kWallClockSet;
  const std::size_t audit = runfile::add_row(run.clock_audit);
  run.clock_audit.n_contradictions[audit] = 0;
  run.clock_audit.n_instances[audit] = 100;
  run.clock_audit.n_violations[audit] = 0;
  const Table clean = clock(run);
  EXPECT_THAT(clean.notes, Contains("finding: n1 at 41.2 s: its wall clock was set by -500 µs"));
  EXPECT_THAT(clean.notes,
              Contains(HasSubstr("100 collectives over several nodes were held against the clocks: none")));
  run.clock_audit.n_violations[audit] = 7;
  run.clock_audit.max_violation_ns[audit] = 450'000;
  run.clock_audit.worst_early[audit] = 1;
  run.clock_audit.worst_late[audit] = 0;
  EXPECT_THAT(clock(run).notes, Contains(HasSubstr("7 members of 100 collectives ended before another began, by up to "
                                                   "450 µs too much, the worst on n1 before n0")));
}

TEST(ClockStudy, OfAnOlderFileSaysWhyThereIsNothing) {
  RunTables run;
  runfile::add_row(run.nodes);
  EXPECT_THAT(clock(run).empty_reason, HasSubstr("merge the run again"));
  EXPECT_THAT(clock(RunTables{}).empty_reason, HasSubstr("no node"));
}

}  // namespace
}  // namespace jaxprof::study
