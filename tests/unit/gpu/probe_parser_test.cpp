#include "netsampler/gpu/probe_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/gpu/probe_samples.h"

namespace jaxprof::netsampler {
namespace {

using namespace test;

std::span<const std::uint8_t> span_of(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string three_records() {
  return bytes_of(record_of(probe_gpu(0))) + bytes_of(record_of(probe_sample(0, 5, 1980))) +
         bytes_of(record_of(probe_note(4, "x")));
}

TEST(ProbeParser, GivesTheSameRecordsWhateverTheSizeOfThePieces) {
  const std::string bytes = three_records();
  for (const std::size_t piece : {1UL, 7UL, 511UL, 512UL, 513UL, 1535UL, 1536UL}) {
    ProbeParser parser;
    std::string seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::string part = bytes.substr(at, piece);
      EXPECT_TRUE(parser.feed(span_of(part), [&](const ProbeRecord& record) {
        seen += bytes_of(record);
        return true;
      }));
    }
    EXPECT_EQ(seen, bytes) << "in pieces of " << piece;
  }
}

TEST(ProbeParser, KeepsAnIncompleteRecordToItself) {
  const std::string bytes = three_records().substr(0, 600);
  ProbeParser parser;
  int count = 0;
  parser.feed(span_of(bytes), [&](const ProbeRecord&) { return ++count > 0; });
  EXPECT_EQ(count, 1);
}

TEST(ProbeParser, GivesUpAForeignStreamForEver) {
  ProbeParser parser;
  int count = 0;
  const auto visit = [&](const ProbeRecord&) { return ++count > 0; };
  EXPECT_FALSE(parser.feed(span_of("loading fake NVML\n" + three_records()), visit));
  EXPECT_FALSE(parser.feed(span_of(three_records()), visit));
  EXPECT_EQ(count, 0);
}

TEST(ProbeParser, GivesUpAnotherVersion) {
  ProbeRecord record = record_of(ProbeKind::kHello);
  record.version = kProbeVersion + 1;
  ProbeParser parser;
  EXPECT_FALSE(parser.feed(span_of(bytes_of(record)), [](const ProbeRecord&) { return true; }));
}

TEST(ProbeParser, GivesUpWhatTheVisitorRefuses) {
  ProbeParser parser;
  int count = 0;
  EXPECT_FALSE(parser.feed(span_of(three_records()), [&](const ProbeRecord&) { return ++count < 2; }));
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace jaxprof::netsampler
