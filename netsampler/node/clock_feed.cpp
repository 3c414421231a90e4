#include "netsampler/node/clock_feed.h"

#include <variant>

#include "agent/spool/clock_record.h"

namespace jaxprof::netsampler {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

void ClockFeed::write(const ServiceNews& news) {
  spool::ClockServiceState record{};
  record.port = news.port;
  record.stamps = news.stamps;
  record.is_reference = news.is_reference ? 1 : 0;
  record.address = spool_->text(news.address);
  record.interface = spool_->text(news.interface);
  record.clocksource = spool_->text(news.clocksource);
  record.reason = spool_->text(news.reason);
  record.network_namespace = news.network_namespace;
  record.stamp = news.stamp;
  spool_->state(spool::StateKind::kClockService, record);
}

void ClockFeed::write(const PeerNews& news) {
  spool::ClockPeerState record{};
  record.peer = news.peer;
  record.is_reference = news.is_reference ? 1 : 0;
  record.host = spool_->text(news.host);
  record.boot_id = spool_->text(news.boot_id);
  record.address = spool_->text(news.address);
  record.port = news.port;
  record.network_namespace = news.network_namespace;
  record.stamp = news.stamp;
  spool_->state(spool::StateKind::kClockPeer, record);
}

void ClockFeed::take() {
  const NewsQueue::Taken taken = source_->take();
  const Overloaded write_down{
      [this](const spool::ClockReading& reading) { spool_->add_reading(reading); },
      [this](const spool::ProbeBurst& burst) { spool_->add_burst(burst); },
      [this](const ServiceNews& news) { write(news); },
      [this](const PeerNews& news) { write(news); },
      [this](const ClockNote& note) { spool_->note(spool::NodeNote::kClockTrouble, note.text, note.stamp); },
      [this](const spool::ClockDisciplineState& record) { spool_->state(spool::StateKind::kClockDiscipline, record); },
      [this](const spool::ClockPacketsState& record) { spool_->state(spool::StateKind::kClockPackets, record); }};
  for (const ClockNews& news : taken.news) std::visit(write_down, news);
  if (taken.n_lost == 0) return;
  spool_->note(spool::NodeNote::kClockTrouble,
               std::to_string(taken.n_lost) +
                   " readings and comparisons of clocks were left out: the observer had waited for its disk",
               clock_->raw_ns());
}

void ClockFeed::finish() {
  source_->finish();
  take();
}

}  // namespace jaxprof::netsampler
