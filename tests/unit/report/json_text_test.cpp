// What a run's names may hold must not get out of the element that holds the page's numbers.
#include "merge/report/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "merge/study/render.h"

namespace jaxprof::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Answer answer_of(const study::Table& table) {
  return {study::find_study("kernels"), table, false};
}

study::Table table_of_names(const std::vector<std::string>& names) {
  study::Table table;
  table.study = "kernels";
  table.verdict = names.front();
  table.columns = {
      {"name", "kernel"}, {"total_ns", "total", study::Unit::kTimeNs}, {"share", "share", study::Unit::kShare, true}};
  for (const std::string& name : names) {
    study::Row& row = table.rows.emplace_back();
    row.emplace_back(name);
    row.emplace_back(std::int64_t{9'007'199'254'740'993});
    row.emplace_back(0.1);
  }
  return table;
}

nlohmann::json parsed(const study::Table& table, std::size_t most_rows = 100) {
  return nlohmann::json::parse(page_json({}, {answer_of(table)}, {}, most_rows));
}

TEST(PageJson, HoldsNoTagWhateverTheNames) {
  const std::vector<std::string> names = {"</script><script>alert(1)</script>", "<!--", "a\"b\\c\n\t\r", "]]>",
                                          "\xe2\x80\xa8"};
  const std::string text =
      page_json({"<b>", "<i>", "<u>", "</script>", 0}, {answer_of(table_of_names(names))}, {}, 100);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  const auto page = nlohmann::json::parse(text);
  EXPECT_EQ(page["facts"]["command"], "</script>");
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(page["studies"][0]["table"]["rows"][i][0], names[i]);
}

TEST(PageJson, ReplacesBytesThatAreNoUtf8) {
  const auto page = parsed(table_of_names({"a\xff\xfe z", std::string("n\0l", 3)}));
  EXPECT_EQ(page["studies"][0]["table"]["rows"][0][0], "a\xef\xbf\xbd\xef\xbf\xbd z");
  EXPECT_EQ(page["studies"][0]["table"]["rows"][1][0], std::string("n\0l", 3));
}

TEST(PageJson, KeepsALongNameWhole) {
  const std::string name(60'000, 'k');
  EXPECT_EQ(parsed(table_of_names({name}))["studies"][0]["table"]["rows"][0][0], name);
}

TEST(PageJson, HasTheValuesOfTheStudysOwnJson) {
  study::Table table = table_of_names({"k"});
  table.rows[0][2] = 0.1 + 0.2;
  table.rows.push_back({study::Missing{}, std::int64_t{-1}, std::numeric_limits<double>::quiet_NaN()});
  const auto own = nlohmann::json::parse(study::render_json(table));
  const auto page = parsed(table)["studies"][0]["table"];
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      EXPECT_EQ(page["rows"][row][i], own["rows"][row][table.columns[i].name]);
    }
  }
}

TEST(PageJson, SaysHowManyRowsThereAreWhenItHasFewer) {
  const auto page = parsed(table_of_names({"a", "b", "c"}), 2);
  EXPECT_EQ(page["studies"][0]["table"]["rows"].size(), 2U);
  EXPECT_EQ(page["studies"][0]["table"]["n_rows"], 3);
}

TEST(PageJson, RoundsMapsAndKeepsWhatIsMissing) {
  Figure figure;
  figure.id = "F8";
  figure.map = {"rank", {"0"}, {"n0"}, "time", study::Unit::kTimeNs, {0, 10, 20}, {10, 20, 30}, {}};
  figure.map.layers.push_back(
      {"compute", "compute", study::Unit::kShare, false, {0.123456, std::numeric_limits<double>::quiet_NaN(), 1}});
  const auto page = nlohmann::json::parse(page_json({}, {}, {figure}, 1));
  EXPECT_EQ(page["figures"][0]["map"]["layers"][0]["rows"].dump(), "[[0.1235,null,1]]");
  EXPECT_EQ(page["figures"][0]["map"]["column_ends"].dump(), "[10,20,30]");
}

}  // namespace
}  // namespace jaxprof::report
