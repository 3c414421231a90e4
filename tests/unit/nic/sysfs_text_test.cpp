#include "netsampler/nic/sysfs_text.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::netsampler {
namespace {

TEST(ParseCounterText, TakesNumbersAndNothingElse) {
  EXPECT_EQ(parse_counter_text("1234\n"), 1234U);
  EXPECT_EQ(parse_counter_text("18446744073709551614\n"), UINT64_MAX - 1);
  for (const char* text : {"", "\n", "N/A (no PMA)\n", "-1\n", "0x12\n", "12 34\n", "18446744073709551616\n"}) {
    EXPECT_FALSE(parse_counter_text(text)) << text;
  }
}

TEST(IsActiveState, GoesByTheNumber) {
  EXPECT_TRUE(is_active_state("4: ACTIVE"));
  EXPECT_FALSE(is_active_state("1: DOWN"));
  EXPECT_FALSE(is_active_state(""));
}

TEST(ParseLinkRate, TakesWholeAndHalfGigabits) {
  EXPECT_EQ(parse_link_rate("100 Gb/sec (4X EDR)"), 100'000'000'000U);
  EXPECT_EQ(parse_link_rate("2.5 Gb/sec (1X SDR)"), 2'500'000'000U);
  for (const char* text : {"", " Gb/sec", "fast Gb/sec", "-1 Gb/sec", "1e99 Gb/sec", "100"}) {
    EXPECT_EQ(parse_link_rate(text), 0U) << text;
  }
}

TEST(ParseInterfaceSpeed, KnowsThatMinusOneIsUnknown) {
  EXPECT_EQ(parse_interface_speed("25000"), 25'000'000'000U);
  EXPECT_EQ(parse_interface_speed("-1"), 0U);
  EXPECT_EQ(parse_interface_speed(""), 0U);
}

TEST(ParseLifespan, IsInMilliseconds) {
  EXPECT_EQ(parse_lifespan("12\n"), 12'000'000U);
  EXPECT_EQ(parse_lifespan("0\n"), 0U);
  EXPECT_EQ(parse_lifespan("20000\n"), 0U);
  EXPECT_EQ(parse_lifespan("soon"), 0U);
}

TEST(FindPciAddress, IsTheLastOneOfAPath) {
  EXPECT_EQ(find_pci_address("/sys/devices/pci0000:00/0000:00:1f.0/0000:17:00.1/infiniband/x"), "0000:17:00.1");
  EXPECT_EQ(find_pci_address("/sys/devices/pci0000:00/0000:00:06.0/virtio2"), "0000:00:06.0");
  EXPECT_EQ(find_pci_address("/sys/devices/platform/10000:e1:00.0"), "10000:e1:00.0");
  for (const char* path :
       {"", "/", "/sys/devices/virtual/net/lo", "/a/0000:00:06", "/a/0000:00:06.g", "/0000_00_06_0/"}) {
    EXPECT_EQ(find_pci_address(path), "") << path;
  }
}

TEST(ReadText, IsWithoutTheEndOfTheLine) {
  const test::TempFolder folder;
  std::ofstream(folder.file("a")) << "mlx5_0 \n\n";
  EXPECT_EQ(read_text(folder.file("a")), "mlx5_0");
  EXPECT_EQ(read_text(folder.file("missing")), "");
  EXPECT_EQ(read_text(folder.path()), "");
}

}  // namespace
}  // namespace jaxprof::netsampler
