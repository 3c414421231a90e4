// The numbers of figures that studies' tables are turned into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/report/critical_figure.h"
#include "merge/report/port_figure.h"
#include "merge/report/util_figure.h"
#include "tests/unit/study/cells.h"
#include "tests/unit/study/sampled_run.h"

namespace jaxprof::report {
namespace {

using study::Missing;
using study::Table;
using testing::ElementsAre;

TEST(UtilFigure, HasARowARankAndAColumnABin) {
  Table table;
  for (const char* name : {"rank", "node", "bin", "begin_ns", "end_ns", "wall_ns", "compute", "comm", "both"}) {
    table.columns.push_back({name, name});
  }
  for (std::int64_t rank : {3, 5}) {
    for (std::int64_t bin : {0, 1}) {
      study::Row& row = table.rows.emplace_back();
      row = {rank, std::string("n") + std::to_string(rank), bin, bin * 10, bin * 10 + 10, std::int64_t{10}};
      row.emplace_back(0.25 * static_cast<double>(rank + bin));
      row.emplace_back(Missing{});
      row.emplace_back(0.0);
    }
  }
  const Figure figure = util_figure(table);
  EXPECT_THAT(figure.map.row_labels, ElementsAre("3", "5"));
  EXPECT_THAT(figure.map.row_hosts, ElementsAre("n3", "n5"));
  EXPECT_THAT(figure.map.column_begins, ElementsAre(0, 10));
  EXPECT_THAT(figure.map.layers[0].values, ElementsAre(0.75, 1, 1.25, 1.5));
  EXPECT_TRUE(std::isnan(figure.map.layers[1].values[0]));
}

TEST(UtilFigure, SaysWhyThereIsNone) {
  Table table;
  table.empty_reason = "no GPU times";
  EXPECT_EQ(util_figure(table).empty_reason, "no GPU times");
}

Table path_of(std::size_t n, std::int64_t n_ranks) {
  Table table;
  for (const char* name : {"step", "rank", "node", "begin_ns", "end_ns", "transfer_ns", "compute_ns"})
    table.columns.push_back({name, name});
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::int64_t>(i) * 1000;
    study::Row& row = table.rows.emplace_back();
    row = {std::int64_t{0}, static_cast<std::int64_t>(i) % n_ranks, std::string("n0"), at, at + 1000};
    row.emplace_back(std::int64_t{i % 2 == 0 ? 900 : 100});
    row.emplace_back(std::int64_t{i % 2 == 0 ? 100 : 900});
  }
  return table;
}

TEST(CriticalFigure, NamesWhatAPieceWasMostlySpentOn) {
  const Figure figure = critical_figure(path_of(2, 1));
  const Table& strip = figure.tables[0].second;
  ASSERT_EQ(strip.rows.size(), 2U);
  EXPECT_EQ(study::test::text_at(strip, 0, "kind"), "transfer");
  EXPECT_EQ(study::test::text_at(strip, 1, "kind"), "compute");
}

TEST(CriticalFigure, JoinsPiecesThatNobodyCouldTellApart) {
  const Figure figure = critical_figure(path_of(10'000, 1));
  const Table& strip = figure.tables[0].second;
  EXPECT_LE(strip.rows.size(), 2 * 1300U);
  EXPECT_EQ(study::test::whole_at(strip, 0, "begin_ns"), 0);
}

TEST(CriticalFigure, GathersRanksThatAreSeldomOnThePath) {
  const Figure figure = critical_figure(path_of(2000, 100));
  std::vector<std::string> ranks;
  const Table& strip = figure.tables[0].second;
  for (std::size_t i = 0; i < strip.rows.size(); ++i) ranks.push_back(study::test::text_at(strip, i, "rank"));
  EXPECT_GE(ranks.size(), 1U);
}

TEST(PortFigure, ShowsAShortBurstAsHighAsItWas) {
  std::vector<std::uint64_t> values(5'000, 0);
  for (std::size_t i = 2'500; i < values.size(); ++i) values[i] = 12'500'000'000;  // 100 Gb in one second
  const auto run =
      study::test::sampled_run(1, {{0, "a", "efa", 100, false, {{"tx_bytes", runfile::CounterUnit::kBytes, values}}}});
  const Figure figure = port_figure(run, {}, "", 1000);
  ASSERT_FALSE(figure.map.is_empty());
  EXPECT_LE(figure.map.column_begins.size(), 300U);
  const auto& out = figure.map.layers[0].values;
  EXPECT_DOUBLE_EQ(*std::max_element(out.begin(), out.end()), 100);
}

TEST(PortFigure, SaysWhyThereIsNone) {
  EXPECT_EQ(port_figure(study::test::sampled_run(1, {}), {}, "no observer", 1000).empty_reason, "no observer");
}

}  // namespace
}  // namespace jaxprof::report
