#include "merge/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/report/assets.h"

namespace jaxprof::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EscapedHtml, LeavesNoMarkup) {
  EXPECT_EQ(escaped_html("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  EXPECT_EQ(escaped_html("a\xff"), "a\xef\xbf\xbd");
}

TEST(PageHtml, HasItsTitleItsNumbersAndNoPlaceLeftOpen) {
  const std::string page = page_html("<run>", R"({"facts":{}})");
  EXPECT_THAT(page, HasSubstr("<title>&lt;run&gt;</title>"));
  EXPECT_THAT(page, HasSubstr(R"(id="data">{"facts":{}}</script>)"));
  EXPECT_THAT(page.substr(0, 400), Not(HasSubstr("{{")));
  for (const Asset& one : assets()) {
    if (one.name == "frame") continue;
    EXPECT_THAT(page, HasSubstr(std::string(one.text.substr(0, 200)))) << one.name;
  }
}

TEST(PageHtml, DoesNotFillPlacesThatNamesOpen) {
  EXPECT_THAT(page_html("{{data}}", "7777"), HasSubstr("<title>{{data}}</title>"));
  EXPECT_THAT(page_html("t", "\"{{style}}\""), HasSubstr(">\"{{style}}\"</script>"));
}

TEST(Assets, EndNoElementThatHoldsThem) {
  for (const Asset& one : assets()) {
    if (one.name == "frame") continue;
    EXPECT_EQ(one.text.find("</script"), std::string_view::npos) << one.name;
    EXPECT_EQ(one.text.find("</style"), std::string_view::npos) << one.name;
    EXPECT_EQ(one.text.find("<!--"), std::string_view::npos) << one.name;
  }
}

}  // namespace
}  // namespace jaxprof::report
