#include "netsampler/clock/probe_server.h"

#include <algorithm>

namespace jaxprof::netsampler {

std::optional<ProbePacket> ProbeServer::answer(const ProbePacket& question, std::int64_t receive_raw_ns,
                                               std::int64_t receive_wall_ns) {
  const auto known = clients_.find(question.source);
  const std::int64_t last_ns = known == clients_.end() ? spool::kNoStamp : known->second.client_raw_ns;
  if (question.client_raw_ns <= last_ns) {
    ++counts_->replayed;
    return std::nullopt;
  }
  if (known == clients_.end() && clients_.size() >= kMostClients) forget_the_most_silent();
  Client& client = clients_[question.source];
  client.client_raw_ns = question.client_raw_ns;
  client.use = ++n_uses_;

  ProbePacket reply = question;
  reply.source = question.destination;
  reply.destination = question.source;
  reply.previous = kNoSequence;
  reply.previous_send_wall_ns = spool::kNoStamp;
  if (client.burst == question.burst && client.send_wall_ns != spool::kNoStamp) {
    reply.previous = client.sequence;
    reply.previous_send_wall_ns = client.send_wall_ns;
  }
  reply.server_receive_raw_ns = receive_raw_ns;
  reply.server_receive_wall_ns = receive_wall_ns;
  reply.server_send_raw_ns = spool::kNoStamp;
  reply.type = reply_type(question.type);
  if (question.type == PacketType::kRequest) {
    client.burst = question.burst;
    client.sequence = question.sequence;
    client.send_wall_ns = spool::kNoStamp;
  }
  return reply;
}

void ProbeServer::take_sent_stamp(std::uint64_t client, std::uint32_t burst, std::uint16_t sequence,
                                  std::int64_t wall_ns) {
  const auto known = clients_.find(client);
  if (known == clients_.end() || known->second.burst != burst || known->second.sequence != sequence) return;
  known->second.send_wall_ns = wall_ns;
}

void ProbeServer::forget_the_most_silent() {
  clients_.erase(std::min_element(clients_.begin(), clients_.end(),
                                  [](const auto& a, const auto& b) { return a.second.use < b.second.use; }));
}

}  // namespace jaxprof::netsampler
