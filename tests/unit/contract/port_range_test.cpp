#include "agent/contract/port_range.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(ParsePortSpan, TakesARangeOrOnePort) {
  EXPECT_EQ(parse_port_span("40000-40099"), (PortSpan{40000, 40099}));
  EXPECT_EQ(parse_port_span("40000"), (PortSpan{40000, 40000}));
  EXPECT_EQ(parse_port_span("1-65535"), (PortSpan{1, 65535}));
}

TEST(ParsePortSpan, RefusesEverythingElse) {
  for (const char* text : {"", "-", "0", "0-5", "5-4", "65536", "1-65536", "1-", "-1", "1-2-3", "1 - 2", "http"}) {
    EXPECT_FALSE(parse_port_span(text)) << text;
  }
}

}  // namespace
}  // namespace jaxprof
