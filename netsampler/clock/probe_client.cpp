#include "netsampler/clock/probe_client.h"

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

using spool::Stamp;

constexpr std::uint32_t kMostLostInRow = 4;
constexpr std::uint32_t kMostFollowUps = 2;

}  // namespace

void ProbeClient::begin(const ProbeTarget& target, spool::BurstKind kind, std::uint32_t burst, std::uint32_t count) {
  phase_ = Phase::kExchanges;
  target_ = target;
  count_ = count;
  n_lost_in_row_ = 0;
  n_follow_ups_ = 0;
  timeout_ = {};
  under_way_.reset();
  request_send_wall_ns_.reset();
  burst_ = {};
  burst_.peer = target.peer;
  burst_.burst = burst;
  burst_.kind = kind;
  burst_.exchanges.reserve(count);
}

std::optional<ProbePacket> ProbeClient::next(std::int64_t now_raw_ns) {
  if (under_way_) {
    if (now_raw_ns < deadline_raw_ns_) return std::nullopt;
    take_loss();
  }
  if (phase_ == Phase::kExchanges && (burst_.sent == count_ || n_lost_in_row_ == kMostLostInRow)) {
    phase_ = burst_.exchanges.empty() ? Phase::kFinished : Phase::kFollowUp;
  }
  if (phase_ == Phase::kFollowUp && n_follow_ups_ == kMostFollowUps) phase_ = Phase::kFinished;
  if (phase_ == Phase::kExchanges) return make_question(PacketType::kRequest, now_raw_ns);
  if (phase_ == Phase::kFollowUp) return make_question(PacketType::kFollowUp, now_raw_ns);
  return std::nullopt;
}

void ProbeClient::take_loss() {
  under_way_.reset();
  timeout_.take_loss();
  ++n_lost_in_row_;
}

ProbePacket ProbeClient::make_question(PacketType type, std::int64_t now_raw_ns) {
  ProbePacket question;
  question.type = type;
  question.source = own_node_;
  question.destination = target_.node;
  question.burst = burst_.burst;
  question.sequence = kNoSequence;
  question.nonce = random_();
  question.client_raw_ns = now_raw_ns;
  if (type == PacketType::kRequest) {
    question.sequence = static_cast<std::uint16_t>(burst_.sent++);
    request_send_wall_ns_.reset();
  } else {
    ++n_follow_ups_;
  }
  under_way_ = question;
  deadline_raw_ns_ = now_raw_ns + timeout_.ns();
  return question;
}

bool ProbeClient::take_reply(const ProbePacket& reply, std::int64_t receive_raw_ns, std::int64_t receive_wall_ns) {
  if (!under_way_ || reply.nonce != under_way_->nonce || reply.burst != under_way_->burst ||
      reply.sequence != under_way_->sequence || reply.source != under_way_->destination ||
      reply.client_raw_ns != under_way_->client_raw_ns || reply.type != reply_type(under_way_->type)) {
    return false;
  }
  if (auto* const previous = find_exchange(reply.previous)) {
    previous->at(Stamp::kServerSendWall) = reply.previous_send_wall_ns;
  }
  timeout_.take_round_trip(std::max<std::int64_t>(0, receive_raw_ns - reply.client_raw_ns));
  n_lost_in_row_ = 0;
  under_way_.reset();
  if (phase_ == Phase::kFollowUp) {
    phase_ = Phase::kFinished;
    return true;
  }
  spool::ProbeExchange& exchange = burst_.exchanges.emplace_back();
  exchange.sequence = reply.sequence;
  exchange.at(Stamp::kClientSendRaw) = reply.client_raw_ns;
  exchange.at(Stamp::kClientSendWall) = request_send_wall_ns_.value_or(spool::kNoStamp);
  exchange.at(Stamp::kServerReceiveWall) = reply.server_receive_wall_ns;
  exchange.at(Stamp::kServerReceiveRaw) = reply.server_receive_raw_ns;
  exchange.at(Stamp::kServerSendRaw) = reply.server_send_raw_ns;
  exchange.at(Stamp::kClientReceiveWall) = receive_wall_ns;
  exchange.at(Stamp::kClientReceiveRaw) = receive_raw_ns;
  return true;
}

void ProbeClient::take_sent_stamp(std::uint32_t burst, std::uint16_t sequence, std::int64_t wall_ns) {
  if (phase_ == Phase::kIdle || burst != burst_.burst || sequence == kNoSequence) return;
  if (auto* const exchange = find_exchange(sequence)) {
    exchange->at(Stamp::kClientSendWall) = wall_ns;
  } else if (under_way_ && under_way_->sequence == sequence) {
    request_send_wall_ns_ = wall_ns;
  }
}

// The last ones are asked for.
spool::ProbeExchange* ProbeClient::find_exchange(std::uint16_t sequence) {
  const auto found = std::find_if(burst_.exchanges.rbegin(), burst_.exchanges.rend(),
                                  [sequence](const spool::ProbeExchange& e) { return e.sequence == sequence; });
  return found == burst_.exchanges.rend() ? nullptr : &*found;
}

std::optional<spool::ProbeBurst> ProbeClient::take_finished() {
  if (phase_ != Phase::kFinished) return std::nullopt;
  phase_ = Phase::kIdle;
  return std::move(burst_);
}

}  // namespace jaxprof::netsampler
