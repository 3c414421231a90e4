// Slices of tracks, by what protozero's reader finds in the trace.
#include "merge/export/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <vector>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::exporting {
namespace {

using testing::ElementsAre;

// "B10" for a slice that begins at 10, "E20" for an end, "I5" for an instant; by track, in order of the file.
std::map<std::uint64_t, std::vector<std::string>> events_of(std::string_view trace) {
  std::map<std::uint64_t, std::vector<std::string>> events;
  protozero::pbf_reader packets(trace.data(), trace.size());
  while (packets.next(1)) {
    protozero::pbf_reader packet = packets.get_message();
    std::uint64_t t_ns = 0;
    while (packet.next()) {
      if (packet.tag() == 8) {
        t_ns = packet.get_uint64();
      } else if (packet.tag() == 11) {
        protozero::pbf_reader event = packet.get_message();
        std::int32_t type = 0;
        std::uint64_t track = 0;
        while (event.next()) {
          if (event.tag() == 9) {
            type = event.get_enum();
          } else if (event.tag() == 11) {
            track = event.get_uint64();
          } else {
            event.skip();
          }
        }
        events[track].push_back(std::string(1, " BEI"[type]) + std::to_string(t_ns));
      } else {
        packet.skip();
      }
    }
  }
  return events;
}

class LanesTest : public testing::Test {
 protected:
  std::map<std::uint64_t, std::vector<std::string>> tracks(const std::vector<Slice>& slices, Overlap overlap) {
    auto file = ByteFile::create(folder_.file("trace"));
    const runfile::StringTable strings;
    Trace trace(*file, strings, 0);
    Lanes lanes(trace, {0, "lanes"}, overlap);
    for (const Slice& slice : slices) lanes.add(slice);
    lanes.finish();
    return events_of(file->buffer());
  }

  jaxprof::test::TempFolder folder_;
};

Slice slice(std::int64_t start_ns, std::int64_t end_ns) {
  return {.start_ns = start_ns, .end_ns = end_ns, .name = 1};
}

TEST_F(LanesTest, OneTrackHoldsWhatFollowsEachOther) {
  const auto found = tracks({slice(0, 10), slice(10, 20), slice(25, 30)}, Overlap::kNever);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.begin()->second, ElementsAre("B0", "E10", "B10", "E20", "B25", "E30"));
}

TEST_F(LanesTest, WorkThatOverlapsGetsATrackOfItsOwn) {
  const auto found = tracks({slice(0, 10), slice(2, 8), slice(9, 20), slice(12, 13)}, Overlap::kNever);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at(1), ElementsAre("B0", "E10", "B12", "E13"));
  EXPECT_THAT(found.at(2), ElementsAre("B2", "E8", "B9", "E20"));
}

TEST_F(LanesTest, RangesLieInsideEachOtherAndNeverAcross) {
  const auto found = tracks({slice(0, 10), slice(2, 8), slice(5, 15)}, Overlap::kInside);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at(1), ElementsAre("B0", "B2", "E8", "E10"));
  EXPECT_THAT(found.at(2), ElementsAre("B5", "E15"));
}

TEST_F(LanesTest, SlicesWithoutLengthEndBeforeTheNextBegins) {
  const auto found = tracks({slice(5, 5), slice(5, 5)}, Overlap::kNever);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.begin()->second, ElementsAre("B5", "E5", "B5", "E5"));
}

}  // namespace
}  // namespace jaxprof::exporting
