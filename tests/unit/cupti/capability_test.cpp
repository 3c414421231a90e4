#include "agent/cupti/capability.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/cupti/result_text.h"

namespace jaxprof::cupti {
namespace {

TEST(Capability, RefusesWhatIsOlderThanCuda118) {
  EXPECT_FALSE(capability_of(17).is_usable);
  EXPECT_STREQ(capability_of(17).note, "its CUPTI is older than CUDA 11.8");
  EXPECT_TRUE(capability_of(18).is_usable);
}

TEST(Capability, ChoosesCallsFromCuda125On) {
  EXPECT_FALSE(capability_of(22).can_filter_api);
  EXPECT_TRUE(capability_of(23).can_filter_api);
  EXPECT_TRUE(capability_of(130001).can_filter_api);
}

TEST(Capability, SharesFromCuda133OnAndNotWithThePreviewOf132) {
  EXPECT_FALSE(capability_of(130200).can_share);
  EXPECT_TRUE(capability_of(130300).can_share);
  EXPECT_FALSE(capability_of(130101).has_sized_params);
  EXPECT_TRUE(capability_of(130200).has_sized_params);
}

TEST(Capability, KnowsWhichReleasesMayNotBeSwitchedOffOrOnAgain) {
  EXPECT_TRUE(capability_of(130000).hangs_when_disabled);
  EXPECT_FALSE(capability_of(130001).hangs_when_disabled);
  EXPECT_TRUE(capability_of(130100).miscounts_when_resumed);
  EXPECT_FALSE(capability_of(130101).miscounts_when_resumed);
  EXPECT_FALSE(capability_of(27).miscounts_when_resumed);
}

TEST(Capability, TracesHardwareEventsFromCuda1341On) {
  EXPECT_FALSE(capability_of(130400).can_trace_hardware);
  EXPECT_TRUE(capability_of(130401).can_trace_hardware);
}

TEST(Capability, UsesANewerCuptiAndSaysSo) {
  const Capability newer = capability_of(140000);
  EXPECT_TRUE(newer.is_usable);
  EXPECT_TRUE(newer.can_share);
  EXPECT_NE(newer.note, nullptr);
  EXPECT_EQ(capability_of(130500).note, nullptr);
}

std::string text_of(abi::Result result) {
  char text[256];
  TextBuffer buffer(text, sizeof text);
  append_result(result, &buffer);
  return text;
}

TEST(ResultText, SaysWhatToDoAboutMissingPrivileges) {
  EXPECT_EQ(text_of(abi::kInsufficientPrivileges),
            "not permitted: needs the driver option NVreg_RestrictProfilingToAdminUsers=0 or CAP_SYS_ADMIN (CUPTI 35)");
  EXPECT_EQ(text_of(static_cast<abi::Result>(26)), "error (CUPTI 26)");
}

}  // namespace
}  // namespace jaxprof::cupti
