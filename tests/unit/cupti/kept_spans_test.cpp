#include "agent/cupti/kept_spans.h"

#include <gtest/gtest.h>

namespace jaxprof::cupti {
namespace {

TEST(KeptSpans, KeepsAllUntilRecordsOfBetweenAreExpected) {
  KeptSpans spans;
  EXPECT_TRUE(spans.keeps(10, 20));
  spans.leave_out_others();
  EXPECT_FALSE(spans.keeps(10, 20));
  EXPECT_TRUE(spans.keeps(0, 0));
}

TEST(KeptSpans, KeepsWhatTouchesASegment) {
  KeptSpans spans;
  spans.leave_out_others();
  spans.open(100);
  EXPECT_TRUE(spans.keeps(150, 160)) << "open ended";
  spans.close(200);
  EXPECT_TRUE(spans.keeps(90, 110)) << "began before";
  EXPECT_TRUE(spans.keeps(190, 400)) << "ended later";
  EXPECT_TRUE(spans.keeps(50, 500)) << "around it";
  EXPECT_FALSE(spans.keeps(50, 99));
  EXPECT_FALSE(spans.keeps(200, 210));
  EXPECT_FALSE(spans.keeps(50, 20)) << "an end before its start";
}

TEST(KeptSpans, RemembersManySegments) {
  KeptSpans spans;
  spans.leave_out_others();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    spans.open(1000 * i + 100);
    spans.close(1000 * i + 200);
  }
  for (std::uint64_t i = 800; i < 1000; ++i) {
    EXPECT_TRUE(spans.keeps(1000 * i + 150, 1000 * i + 160));
    EXPECT_FALSE(spans.keeps(1000 * i + 250, 1000 * i + 260));
  }
}

}  // namespace
}  // namespace jaxprof::cupti
