// Packets of clock probes: after an odd first byte one packet as it is, else packets in pieces of 97 bytes, whose first
// byte says how the rest is made believable (fixed fields, receiver, answer to what is asked just now, MAC), for no
// fuzzer guesses a MAC. They reach a node that serves and asks at the same time.
#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "netsampler/clock/packet_filter.h"
#include "netsampler/clock/probe_client.h"
#include "netsampler/clock/probe_server.h"
#include "tests/fuzz/planted_fault.h"
#include "tests/unit/probes/probe_packets.h"

using namespace jaxprof;
using namespace jaxprof::netsampler;

namespace {

enum Dress : unsigned {
  kFixedFields = 1U << 0,
  kForUs = 1U << 1,
  kAnswer = 1U << 2,  // to the question under way
  kMac = 1U << 3,
  kStamp = 1U << 4,  // the kernel has sent what was sent last
  kLater = 1U << 5,  // than the packet before
};

// A node that is asked and asks.
class Node {
 public:
  Node() { begin_burst(); }

  void take(unsigned dress, std::span<const std::uint8_t> piece) {
    if ((dress & kLater) != 0) now_ns_ += 300'000'000;
    PacketBytes bytes{};
    std::copy(piece.begin(), piece.end(), bytes.begin());
    dress_up(dress, &bytes);
    const std::span<const std::uint8_t> content(bytes.data(), piece.size());
    const ProbeCounts before = counts_;
    const auto packet = filter_.admit(content, test::sample_address(), now_ns_);
    fuzz::demand(counts_.received == before.received + 1, "a packet counts once");
    fuzz::demand(dropped(counts_) == dropped(before) + (packet ? 0 : 1), "what is dropped has one reason");
    if (packet) take_admitted(*packet, bytes, (dress & kStamp) != 0);
    advance_client();
  }

 private:
  static std::uint64_t dropped(const ProbeCounts& counts) {
    return counts.wrong_size + counts.rate_limited + counts.wrong_mac + counts.wrong_node;
  }

  void begin_burst() {
    client_.begin({test::sample_address(), test::kClientNode, 0}, spool::BurstKind::kPeriodic, n_bursts_++, 8);
    advance_client();
  }

  void dress_up(unsigned dress, PacketBytes* bytes) const {
    if ((dress & kFixedFields) != 0) {
      const PacketBytes fixed = encode_packet({});
      std::copy(fixed.begin(), fixed.begin() + 5, bytes->begin());
      (*bytes)[5] = static_cast<std::uint8_t>(1 + (*bytes)[5] % 4);
      (*bytes)[6] = (*bytes)[7] = 0;
    }
    if ((dress & kForUs) != 0) {
      for (std::size_t i = 0; i < 8; ++i) (*bytes)[16 + i] = static_cast<std::uint8_t>(test::kServerNode >> (8 * i));
    }
    if ((dress & kAnswer) != 0 && question_) {
      const PacketBytes reply = encode_packet(test::sample_reply(*question_));
      std::copy(reply.begin(), reply.begin() + 30, bytes->begin());            // up to the sequence
      std::copy(reply.begin() + 32, reply.begin() + 48, bytes->begin() + 32);  // nonce and the client's time
    }
    if ((dress & kMac) != 0) test::sample_mac().seal(bytes);
  }

  void take_admitted(const ProbePacket& packet, const PacketBytes& bytes, bool is_stamped) {
    fuzz::plant_fault(packet.burst >> 24U != 0);
    PacketBytes again = encode_packet(packet);
    test::sample_mac().seal(&again);
    fuzz::demand(again == bytes, "what is admitted survives encoding");
    if (!packet.is_question()) {
      const bool is_answer = question_ && packet.nonce == question_->nonce && packet.sequence == question_->sequence &&
                             packet.burst == question_->burst && packet.source == question_->destination &&
                             packet.client_raw_ns == question_->client_raw_ns;
      const bool is_taken = client_.take_reply(packet, now_ns_ + 1, now_ns_);
      fuzz::demand(!is_taken || is_answer, "only the answer to the question is taken");
      if (is_taken) question_.reset();
      return;
    }
    const auto reply = server_.answer(packet, now_ns_, spool::kNoStamp);
    fuzz::demand(server_.n_clients() <= kMostClients, "clients have a limit");
    fuzz::demand(!server_.answer(packet, now_ns_, spool::kNoStamp), "a copy is never answered");
    if (!reply) return;
    fuzz::demand(reply->destination == packet.source && reply->source == packet.destination, "to whom it came from");
    fuzz::demand(reply->nonce == packet.nonce && reply->sequence == packet.sequence && reply->burst == packet.burst,
                 "a reply echoes its question");
    fuzz::demand(reply->previous == kNoSequence || reply->previous_send_wall_ns == kSentNs,
                 "only stamps that there were");
    fuzz::demand(encode_packet(*reply).size() <= bytes.size(), "no reply is larger than its question");
    if (is_stamped) server_.take_sent_stamp(packet.source, packet.burst, packet.sequence, kSentNs);
  }

  void advance_client() {
    if (const auto question = client_.next(now_ns_)) question_ = question;
    const auto burst = client_.take_finished();
    if (!burst) return;
    question_.reset();
    fuzz::demand(burst->sent <= 8 && burst->exchanges.size() <= burst->sent, "a burst has its size");
    std::set<std::uint32_t> sequences;
    for (const auto& exchange : burst->exchanges) {
      fuzz::demand(exchange.sequence < burst->sent && sequences.insert(exchange.sequence).second,
                   "an exchange is of one request");
    }
    begin_burst();
  }

  static constexpr std::int64_t kSentNs = 12'345;

  ProbeCounts counts_;
  PacketFilter filter_{test::sample_mac(), test::kServerNode, &counts_};
  ProbeServer server_{&counts_};
  std::uint64_t n_nonces_ = 0;
  ProbeClient client_{test::kServerNode, [this] { return ++n_nonces_; }};
  std::optional<ProbePacket> question_;
  std::uint32_t n_bursts_ = 0;
  std::int64_t now_ns_ = 1'000'000'000;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  Node node;
  if (bytes[0] % 2 == 1) {
    const std::span<const std::uint8_t> packet(bytes + 1, size - 1);
    if (const auto decoded = decode_packet(packet)) {
      const PacketBytes again = encode_packet(*decoded);
      fuzz::demand(std::equal(again.begin(), again.end() - kMacBytes, packet.begin()),
                   "what decodes survives encoding");
    }
    node.take(0, packet.first(std::min(packet.size(), kPacketBytes)));
    return 0;
  }
  for (std::size_t at = 1; at < size; at += 1 + kPacketBytes) {
    node.take(bytes[at], {bytes + at + 1, std::min(size - at - 1, kPacketBytes)});
  }
  return 0;
}
