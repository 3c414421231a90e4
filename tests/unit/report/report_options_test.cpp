#include "merge/report/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::report {
namespace {

using testing::HasSubstr;

TEST(ReportOptions, PutThePageBesideTheRunFileUnlessToldWhere) {
  EXPECT_EQ(parse_options({"runs/run.h5"})->output, "runs/run.html");
  EXPECT_EQ(parse_options({"run"})->output, "run.html");
  EXPECT_EQ(parse_options({".h5"})->output, ".h5.html");
  EXPECT_EQ(parse_options({"run.h5", "-o", "x.html"})->output, "x.html");
  EXPECT_EQ(parse_options({"run.h5", "--out", "x.html", "--ref", "n.out"})->reference, "n.out");
}

TEST(ReportOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(parse_options({}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(parse_options({"a.h5", "b.h5"}).error().code, ErrorCode::kUsage);
  EXPECT_THAT(parse_options({"a.h5", "--pretty"}).error().message, HasSubstr("report --help"));
  EXPECT_THAT(parse_options({"a.h5", "-o", "a.h5"}).error().message, HasSubstr("is the run file itself"));
}

TEST(ReportOptions, ExplainThemselves) {
  EXPECT_THAT(parse_options({"--help"})->text, HasSubstr("RUN.h5"));
}

}  // namespace
}  // namespace jaxprof::report
