#include "tests/unit/probes/lossy_run.h"

#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::test {
namespace {

using netsampler::PacketType;
using spool::Stamp;

constexpr std::int64_t kLeastDelayNs = 5'000;

}  // namespace

LossyRun::LossyRun(const Weather& weather, std::uint64_t seed)
    : weather_(weather),
      random_(seed),
      client_filter_(sample_mac(), kClientNode, &client_counts_),
      server_filter_(sample_mac(), kServerNode, &server_counts_),
      client_(kClientNode, [this] { return random_(); }) {}

void LossyRun::restart_client() {
  client_ = netsampler::ProbeClient(kClientNode, [this] { return random_(); });
  truth_.clear();
}

spool::ProbeBurst LossyRun::run_burst(std::uint32_t burst, std::uint32_t count) {
  client_.begin({sample_address(), kServerNode, 0}, spool::BurstKind::kPeriodic, burst, count);
  for (;;) {
    ask();
    if (auto finished = client_.take_finished()) return std::move(*finished);
    const std::int64_t deadline_ns = client_.deadline_raw_ns() - kClientRawNs;
    if (under_way_.empty() || under_way_.top().at_ns >= deadline_ns) {
      now_ns_ = deadline_ns;
      continue;
    }
    const Arrival arrival = under_way_.top();
    under_way_.pop();
    now_ns_ = std::max(now_ns_, arrival.at_ns);
    deliver(arrival);
  }
}

void LossyRun::ask() {
  const auto question = client_.next(now_ns_ + kClientRawNs);
  if (!question) return;
  const std::int64_t wall_ns = now_ns_ + 2'000 + kWallNs;
  if (question->type == PacketType::kRequest) {
    spool::ProbeExchange& truth = truth_[{question->burst, question->sequence}];
    truth.sequence = question->sequence;
    truth.at(Stamp::kClientSendRaw) = question->client_raw_ns;
    truth.at(Stamp::kClientSendWall) = wall_ns;
  }
  if (!happens(weather_.lost_stamps)) client_.take_sent_stamp(question->burst, question->sequence, wall_ns);
  send(*question, true);
}

void LossyRun::send(const netsampler::ProbePacket& packet, bool is_to_server) {
  const int n_copies = happens(weather_.loss) ? 0 : happens(weather_.copies) ? 2 : 1;
  for (int i = 0; i < n_copies; ++i) {
    Arrival arrival{now_ns_, n_packets_++, is_to_server, sealed(packet)};
    std::exponential_distribution<> delay(1.0 / static_cast<double>(weather_.delay_ns));
    arrival.at_ns += kLeastDelayNs + static_cast<std::int64_t>(delay(random_));
    if (happens(weather_.corruption)) arrival.bytes[random_() % arrival.bytes.size()] ^= 0x10;
    under_way_.push(arrival);
  }
}

void LossyRun::deliver(const Arrival& arrival) {
  auto& filter = arrival.is_at_server ? server_filter_ : client_filter_;
  const auto packet = filter.admit(arrival.bytes, sample_address(), now_ns_);
  if (!packet) return;
  if (arrival.is_at_server) {
    serve(*packet);
    return;
  }
  const std::int64_t wall_ns = happens(weather_.lost_stamps) ? spool::kNoStamp : now_ns_ + kWallNs;
  if (!client_.take_reply(*packet, now_ns_ + 1'000 + kClientRawNs, wall_ns)) {
    ++n_unpaired_;
    return;
  }
  if (packet->type != PacketType::kReply) return;
  spool::ProbeExchange& truth = truth_.at({packet->burst, packet->sequence});
  truth.at(Stamp::kClientReceiveWall) = now_ns_ + kWallNs;
  truth.at(Stamp::kClientReceiveRaw) = now_ns_ + 1'000 + kClientRawNs;
}

void LossyRun::serve(const netsampler::ProbePacket& question) {
  const std::int64_t wall_ns = happens(weather_.lost_stamps) ? spool::kNoStamp : now_ns_ + kWallNs;
  auto reply = server_.answer(question, now_ns_ + 1'000 + kServerRawNs, wall_ns);
  if (!reply) return;
  reply->server_send_raw_ns = now_ns_ + 3'000 + kServerRawNs;
  const std::int64_t send_wall_ns = now_ns_ + 4'000 + kWallNs;
  const auto known = truth_.find({question.burst, question.sequence});  // none: of a life before
  if (question.type == PacketType::kRequest && known != truth_.end() &&
      known->second.at(Stamp::kClientSendRaw) == question.client_raw_ns) {
    spool::ProbeExchange& truth = known->second;
    truth.at(Stamp::kServerReceiveWall) = now_ns_ + kWallNs;
    truth.at(Stamp::kServerReceiveRaw) = now_ns_ + 1'000 + kServerRawNs;
    truth.at(Stamp::kServerSendRaw) = reply->server_send_raw_ns;
    truth.at(Stamp::kServerSendWall) = send_wall_ns;
  }
  send(*reply, false);
  if (question.type == PacketType::kRequest && !happens(weather_.lost_stamps)) {
    server_.take_sent_stamp(question.source, question.burst, question.sequence, send_wall_ns);
  }
}

}  // namespace jaxprof::test
