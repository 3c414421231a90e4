// Text that would break a format, in every format.
#include "merge/study/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "merge/study/human.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

Table sample() {
  Table table;
  table.study = "sample";
  table.heading = "host time";
  table.verdict = "all is \"well\"";
  table.parameters = {{"run_file", std::string("a,b.h5")}, {"limit", std::int64_t{3}}};
  table.columns = {{"name", "name"},
                   {"p50_ns", "p50", Unit::kTimeNs},
                   {"size_bytes", "size", Unit::kBytes},
                   {"share", "share", Unit::kRatio, true}};
  table.rows = {{std::string("a \"q\", b"), 1'500'000.5, std::int64_t{65536}, 0.25},
                {std::string("x|y\nz\tα\\"), Missing{}, std::int64_t{9007199254740993}, std::nan("")}};
  table.notes = {"a note"};
  return table;
}

TEST(RenderCsv, QuotesCommasQuotesAndLineBreaks) {
  EXPECT_EQ(render_csv(sample()),
            "name,p50_ns,size_bytes,share\n"
            "\"a \"\"q\"\", b\",1500000.5,65536,0.25\n"
            "\"x|y\nz\tα\\\",,9007199254740993,\n");
}

TEST(RenderTsv, EscapesTabsLineBreaksAndBackslashes) {
  EXPECT_EQ(render_tsv(sample()),
            "name\tp50_ns\tsize_bytes\tshare\n"
            "a \"q\", b\t1500000.5\t65536\t0.25\n"
            "x|y\\nz\\tα\\\\\t\t9007199254740993\t\n");
}

TEST(RenderJson, IsOneObjectWithRowsKeyedByColumn) {
  const auto document = nlohmann::json::parse(render_json(sample()));
  EXPECT_EQ(document["study"], "sample");
  EXPECT_EQ(document["schema_version"], "1.4.0");
  EXPECT_EQ(document["parameters"]["run_file"], "a,b.h5");
  EXPECT_EQ(document["parameters"]["limit"], 3);
  EXPECT_EQ(document["verdict"], "all is \"well\"");
  ASSERT_EQ(document["rows"].size(), 2U);
  EXPECT_EQ(document["rows"][0]["name"], "a \"q\", b");
  EXPECT_EQ(document["rows"][0]["p50_ns"], 1500000.5);
  EXPECT_EQ(document["rows"][1]["name"], "x|y\nz\tα\\");
  EXPECT_TRUE(document["rows"][1]["p50_ns"].is_null());
  EXPECT_TRUE(document["rows"][1]["share"].is_null());
  EXPECT_EQ(document["rows"][1]["size_bytes"].get<std::int64_t>(), 9007199254740993);
}

TEST(RenderJson, ReplacesBytesThatAreNotUtf8) {
  Table table = sample();
  table.rows[0][0] = std::string("\xFF!");
  EXPECT_EQ(nlohmann::json::parse(render_json(table))["rows"][0]["name"], "\uFFFD!");
}

TEST(RenderMd, EscapesPipesAndLineBreaks) {
  EXPECT_EQ(render_md(sample(), false),
            "**verdict** all is \"well\"\n\n"
            "host time\n\n"
            "| name | p50 | size |\n"
            "|---|---|---|\n"
            "| a \"q\", b | 1.5 ms | 64 KiB |\n"
            "| x\\|y<br>z\tα\\\\ | – | 8192 TiB |\n"
            "\na note\n");
}

TEST(RenderTable, AlignsByCharactersAndShowsHumanUnits) {
  EXPECT_EQ(render_table(sample(), false),
            "verdict  all is \"well\"\n\n"
            "host time\n"
            " name           p50      size\n"
            " a \"q\", b    1.5 ms    64 KiB\n"
            " x|y\\nz\\tα\\       –  8192 TiB\n"
            "a note\n");
}

TEST(RenderTable, ShowsDetailsWhenWide) {
  EXPECT_THAT(render_table(sample(), true), HasSubstr("share"));
  EXPECT_THAT(render_table(sample(), true), HasSubstr("0.25"));
}

TEST(RenderTable, CannotBeMadeToMoveTheCursor) {
  Table table = sample();
  table.rows[0][0] = std::string("\x1b[2J");
  EXPECT_THAT(render_table(table, false), HasSubstr("\\x1b[2J"));
}

TEST(Render, SaysWhyThereIsNothing) {
  Table table = sample();
  table.rows.clear();
  table.empty_reason = "nothing was recorded";
  EXPECT_THAT(render_table(table, false), HasSubstr("no rows: nothing was recorded\n"));
  EXPECT_THAT(render_md(table, false), HasSubstr("no rows: nothing was recorded\n"));
  EXPECT_THAT(nlohmann::json::parse(render_json(table))["verdict"].get<std::string>(),
              HasSubstr("no rows: nothing was recorded"));
  EXPECT_EQ(render_csv(table), "name,p50_ns,size_bytes,share\n");
}

TEST(HumanTime, TakesTheUnitThatFits) {
  EXPECT_EQ(human_time(0), "0 ns");
  EXPECT_EQ(human_time(850), "850 ns");
  EXPECT_EQ(human_time(999.99), "1 µs");
  EXPECT_EQ(human_time(1500), "1.5 µs");
  EXPECT_EQ(human_time(53'361'000), "53.4 ms");
  EXPECT_EQ(human_time(2.31e9), "2.31 s");
  EXPECT_EQ(human_time(90e9), "1.5 min");
  EXPECT_EQ(human_time(7200e9), "2 h");
  EXPECT_EQ(human_time(-1500), "-1.5 µs");
}

TEST(HumanBytes, CountsIn1024) {
  EXPECT_EQ(human_bytes(8), "8 B");
  EXPECT_EQ(human_bytes(1024), "1 KiB");
  EXPECT_EQ(human_bytes(1.5 * 1073741824), "1.5 GiB");
}

TEST(HumanCell, SmallBandwidthsKeepThreeDigits) {
  EXPECT_EQ(human_cell(0.00012641, Unit::kGbPerS, ""), "0.000126 GB/s");
  EXPECT_EQ(human_cell(0.0126, Unit::kGbPerS, ""), "0.0126 GB/s");
  EXPECT_EQ(human_cell(0.99951, Unit::kGbPerS, ""), "1 GB/s");
  EXPECT_EQ(human_cell(0.00000126, Unit::kGbPerS, ""), "1.26e-06 GB/s");
  EXPECT_EQ(human_cell(53.361, Unit::kGbPerS, ""), "53.4 GB/s");
  EXPECT_EQ(human_cell(0.0, Unit::kGbPerS, ""), "0 GB/s");
}

TEST(HumanCell, FoldsTheUnitOfARow) {
  EXPECT_EQ(human_cell(std::int64_t{1500}, Unit::kUnitOfRow, "ns"), "1.5 µs");
  EXPECT_EQ(human_cell(std::int64_t{1024}, Unit::kUnitOfRow, "bytes"), "1 KiB");
  EXPECT_EQ(human_cell(std::int64_t{12345}, Unit::kUnitOfRow, "1"), "12345");
}

}  // namespace
}  // namespace jaxprof::study
