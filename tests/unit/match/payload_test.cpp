#include "merge/match/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/match/loaded_process.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::match {
namespace {

using test::append_bytes;
using test::as_span;
using test::LoadedProcess;
using test::Recording;

// NVTX_PAYLOAD_ENTRY_TYPE_*
constexpr std::uint64_t kInt8 = 11;
constexpr std::uint64_t kUint16 = 14;
constexpr std::uint64_t kInt32 = 15;
constexpr std::uint64_t kUint64 = 18;
constexpr std::uint64_t kDouble = 20;

std::vector<std::string> describe(const std::vector<PayloadField>& fields) {
  std::vector<std::string> texts;
  for (const PayloadField& field : fields) {
    std::string text = std::string(field.name) + "=" + std::to_string(field.value);
    if (!field.enum_name.empty()) text += "(" + std::string(field.enum_name) + ")";
    texts.push_back(text);
  }
  return texts;
}

std::vector<PayloadField> read(const LoadedProcess& process, std::uint32_t domain, std::uint64_t schema,
                               std::span<const std::uint8_t> bytes) {
  std::vector<PayloadField> fields;
  PayloadReader(process.trace()).read(domain, schema, bytes, &fields);
  return fields;
}

std::vector<PayloadField> read_all(const LoadedProcess& process, std::span<const std::uint8_t> event) {
  std::vector<PayloadField> fields;
  PayloadReader(process.trace()).read_all(1, event, &fields);
  return fields;
}

class PayloadTest : public testing::Test {
 protected:
  // "all": every kind of field, natural alignment.
  PayloadTest() {
    recording_.enumeration(1, 900, 4, {{0, "Sum"}, {3, "Max"}, {UINT32_MAX, "None"}});
    recording_.schema(
        1, 7, {{"i8", kInt8}, {"u16", kUint16}, {"f", kDouble}, {"op", 900}, {"i32", kInt32}, {"u64", kUint64}});
    append_bytes(&bytes_, std::int8_t{-2});
    bytes_ += '\0';
    append_bytes(&bytes_, std::uint16_t{65535});
    bytes_ += std::string(4, '\0');
    append_bytes(&bytes_, 2.5);
    append_bytes(&bytes_, std::uint32_t{3});
    append_bytes(&bytes_, std::int32_t{-100});
    append_bytes(&bytes_, UINT64_MAX);
  }
  Recording recording_;
  std::string bytes_;
};

TEST_F(PayloadTest, ReadsIntegersAndEnumerationsByTheirWidthAndSign) {
  const LoadedProcess process(recording_);
  EXPECT_THAT(describe(read(process, 1, 7, as_span(bytes_))),
              testing::ElementsAre("i8=-2", "u16=65535", "op=3(Max)", "i32=-100", "u64=-1"));
}

TEST_F(PayloadTest, LeavesOutWhatACutPayloadDoesNotReach) {
  const LoadedProcess process(recording_);
  const std::size_t ends[] = {1, 4, 20, 24, 32};
  for (std::size_t cut = 0; cut <= bytes_.size(); ++cut) {
    const std::string copy = bytes_.substr(0, cut);
    const auto expected =
        std::count_if(std::begin(ends), std::end(ends), [cut](std::size_t end) { return end <= cut; });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(read(process, 1, 7, as_span(copy)).size()), expected) << cut;
  }
}

TEST_F(PayloadTest, AValueThatItsEnumerationLacksKeepsItsNumber) {
  bytes_[16] = 9;
  const LoadedProcess process(recording_);
  EXPECT_EQ(describe(read(process, 1, 7, as_span(bytes_)))[2], "op=9");
}

TEST_F(PayloadTest, SchemasBelongToTheirDomain) {
  const LoadedProcess process(recording_);
  EXPECT_TRUE(read(process, 2, 7, as_span(bytes_)).empty());
  EXPECT_TRUE(read(process, 1, 8, as_span(bytes_)).empty());
}

TEST_F(PayloadTest, SkipsFieldsThatLieNowhere) {
  recording_.schema(
      1, 9,
      {{"a", kUint64}, {"unknown", 4444}, {"behind", kInt32}, {"far", kInt32, UINT64_MAX - 1}, {"given", kInt32, 20}});
  const LoadedProcess process(recording_);
  EXPECT_THAT(describe(read(process, 1, 9, as_span(std::string(24, '\x01')))),
              testing::ElementsAre("a=72340172838076673", "given=16843009"));
}

TEST_F(PayloadTest, JoinsAllPayloadsOfAnEvent) {
  recording_.schema(1, 8, {{"only", kInt32}});
  std::string four;
  append_bytes(&four, std::int32_t{5});
  const std::string event = test::payload_of(8, four) + test::payload_of(99, "???") + test::payload_of(8, four);
  const LoadedProcess process(recording_);
  EXPECT_THAT(describe(read_all(process, as_span(event))), testing::ElementsAre("only=5", "only=5"));
  for (std::size_t cut = 0; cut < event.size(); ++cut) {
    const std::string copy = event.substr(0, cut);
    EXPECT_LE(read_all(process, as_span(copy)).size(), 2u);
  }
}

TEST_F(PayloadTest, AHeaderThatPromisesTooMuchEndsTheReading) {
  std::string event;
  append_bytes(&event, spool::PayloadHeader{7, UINT32_MAX, UINT32_MAX});
  const LoadedProcess process(recording_);
  EXPECT_TRUE(read_all(process, as_span(event)).empty());
}

}  // namespace
}  // namespace jaxprof::match
