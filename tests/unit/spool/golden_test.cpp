// The format, held still: a spool of every kind of block and record, made here by fixed rules, must be byte for byte
// the one in tests/fixtures, and that one must decode to the text beside it. If this fails, old spools read
// differently: either mend the code, or raise kFormatVersion and write both files anew with JAXPROF_WRITE_GOLDEN=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "agent/base/atomic_file.h"
#include "agent/spool/event_codec.h"
#include "agent/spool/spool_reader.h"
#include "tests/unit/spool/recording.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::spool {
namespace {

const std::string kSpool = std::string(JAXPROF_FIXTURES) + "/spool_v1.jxspool";
const std::string kText = std::string(JAXPROF_FIXTURES) + "/spool_v1.txt";

test::Recording sample() {
  test::Recording recording(3, 8, "n17");
  recording.set_file_id(1);
  recording.anchor({1000, 2000, 1'700'000'000'000'000'000, 3000, 40});
  recording.anchor({1'000'001'000, 1'000'002'000, 1'700'000'001'000'000'000, 1'000'003'000, 38});
  recording.domain(1, "NCCL");
  recording.category(1, 5, "comm");
  recording.schema(1, 1u << 24, {{"Message size [bytes]", 22, 0, 0, 0}, {"Reduction operation", 1u << 25, 0, 0, 0}});
  recording.enumeration(1, 1u << 25, 4, {{0, "Sum"}, {1, "Product"}});
  recording.thread(1, 4242);
  recording.communicator(1, 0xfeedfacecafebeef, 3, 8, 2, "world");
  HookState hook{};
  hook.hook = 8;
  hook.detail = 5;
  recording.state(StateKind::kHook, hook);
  std::string payload;
  test::append_bytes(&payload, std::uint64_t{4096});
  test::append_bytes(&payload, std::uint32_t{0});
  recording.push(1, 1, 0, "ncclAllReduce", 5000, test::payload_of(1u << 24, payload));
  const std::uint64_t codes =
      pack(NcclCodes{NcclFunction::kAllReduce, NcclType::kFloat32, NcclAlgorithm::kRing, NcclProtocol::kSimple, 4, 16});
  recording.event(1, EventKind::kNcclStart, static_cast<std::uint32_t>(NcclEvent::kColl), 5100,
                  {1ULL << 36 | 1, 1, 0, 7, codes, 1024, 0, 0});
  recording.event(1, EventKind::kNcclStop, 0, 5300, {1ULL << 36 | 1});
  recording.pop(1, 1, 0, 5400);
  recording.event(2, EventKind::kNvtxStart, recording.string("step 1"), 4900, {0, 5, UINT64_MAX, 2ULL << 40 | 1});
  recording.event(2, EventKind::kNvtxEnd, 0, 9'000'000, {2ULL << 40 | 1});
  recording.event(2, EventKind::kNvtxMark, recording.string("done"), 9'000'100, {pack(NvtxContext{0, 0, 5})});
  recording.drop(Drop::kRingFull, 12);
  return recording;
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

void describe_state(std::span<const std::uint8_t> payload, std::ostream& out) {
  StateDecoder decoder(payload);
  StateKind kind{};
  std::span<const std::uint8_t> record;
  while (decoder.next(&kind, &record)) {
    out << "  state " << static_cast<int>(kind);
    StringState string{};
    std::span<const std::uint8_t> tail;
    if (kind == StateKind::kString && read_state(record, &string, &tail) && string.length <= tail.size()) {
      out << " " << string.id << " \"" << std::string(tail.begin(), tail.begin() + string.length) << "\"\n";
    } else {
      out << " " << hex(record.subspan(sizeof(StateHeader))) << "\n";
    }
  }
}

void describe_events(std::span<const std::uint8_t> payload, std::ostream& out) {
  EventDecoder decoder(payload.data(), payload.size());
  Event event;
  while (decoder.next(&event)) {
    out << "  thread " << decoder.thread() << " event " << static_cast<int>(event.kind) << " id " << event.id << " at "
        << event.stamp << " fields";
    for (std::size_t i = 0; i < event.field_count; ++i) out << " " << event.fields[i];
    if (event.payload_bytes > 0) out << " payload " << hex({event.payload, event.payload_bytes});
    out << "\n";
  }
}

std::string describe(const std::string& path) {
  auto reader = SpoolReader::open(path);
  if (!reader) return reader.error().message;
  std::ostringstream out;
  Block block;
  while (reader->next(&block)) {
    out << "block " << static_cast<int>(block.kind) << " sequence " << block.sequence << " bytes "
        << block.payload.size() << "\n";
    if (block.kind == BlockKind::kIdentity) {
      const SpoolIdentity identity = SpoolIdentity::parse(block.payload);
      out << "  run " << identity.text(IdentityKey::kRunId) << " rank " << identity.number(IdentityKey::kRank) << " of "
          << identity.number(IdentityKey::kWorldSize) << " on " << identity.text(IdentityKey::kHost) << "\n";
    } else if (block.kind == BlockKind::kAnchors) {
      for (const AnchorRecord& a : parse_anchors(block.payload)) {
        out << "  anchor " << a.counter << " raw " << a.monotonic_raw_ns << " real " << a.realtime_ns << " mono "
            << a.monotonic_ns << " bracket " << a.bracket << "\n";
      }
    } else if (block.kind == BlockKind::kState) {
      describe_state(block.payload, out);
    } else if (block.kind == BlockKind::kEvents) {
      describe_events(block.payload, out);
    } else if (Footer footer; block.kind == BlockKind::kFooter && parse_footer(block.payload, &footer)) {
      out << "  reason " << footer.record.reason << " events " << footer.record.events << "\n";
      for (const CounterRecord& counter : footer.counters)
        out << "  drop " << counter.drop << ": " << counter.count << "\n";
    }
  }
  return out.str();
}

class GoldenSpool : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::getenv("JAXPROF_WRITE_GOLDEN") == nullptr) return;
    test::write_file(kSpool, sample().bytes());
    test::write_file(kText, describe(kSpool));
  }
};

TEST_F(GoldenSpool, IsStillWhatTheWriterWrites) {
  const auto golden = read_small_file(kSpool);
  ASSERT_TRUE(golden) << golden.error().message;
  EXPECT_TRUE(*golden == sample().bytes()) << "the bytes of a spool have changed";
}

TEST_F(GoldenSpool, StillMeansTheSame) {
  EXPECT_EQ(describe(kSpool), read_small_file(kText).value_or("(cannot be read)"));
}

}  // namespace
}  // namespace jaxprof::spool
