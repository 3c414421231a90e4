#include "netsampler/clock/probing.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/contract/run_layout.h"
#include "netsampler/clock/clock_discipline.h"
#include "netsampler/clock/clock_token.h"
#include "netsampler/clock/own_interface.h"
#include "netsampler/clock/peer_choice.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kWindowPerNodeNs = 20 * kMillisecond;  // what a burst of 64 may take
constexpr std::int64_t kLongestWindowNs = 2'000 * kMillisecond;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
  return static_cast<std::uint64_t>(clock_ns(CLOCK_REALTIME)) ^ static_cast<std::uint64_t>(getpid()) << 48;
}

std::uint64_t own_network_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

// Nodes of a large job spread their first questions, for the reference would be asked by all of them at once; those of
// a small job need not, and it may be short.
std::int64_t first_window_ns(std::size_t n_nodes) {
  return std::min(kLongestWindowNs, kWindowPerNodeNs * static_cast<std::int64_t>(std::min<std::size_t>(n_nodes, 1000)));
}

// "n3 (10.0.0.3), n4 (10.0.0.4), …"
struct NodeNames {
  static constexpr std::size_t kMost = 3;
  std::size_t count = 0;
  std::string text;

  void add(const ClockEndpoint& node) {
    if (++count <= kMost) text += (count == 1 ? "" : ", ") + node.host + " (" + node.address.literal() + ")";
    if (count == kMost + 1) text += ", …";
  }
};

}  // namespace

Result<std::unique_ptr<Probing>> Probing::open(const ProbingSettings& settings, const RawClock& raw, Tell tell) {
  if (!run_layout::is_clock_boot_id(settings.boot_id)) {
    return fail(ErrorCode::kNodeNotReady, "the node has no boot id that could name it");
  }
  const auto interface = find_own_interface(settings.interface);
  if (!interface) return tl::unexpected(interface.error());
  auto folder = EndpointFolder::open(settings.state_directory, settings.longest_life_ns);
  if (!folder) return tl::unexpected(std::move(folder.error()));
  const auto token = take_clock_token(run_layout::clock_token_path(settings.state_directory));
  if (!token) return tl::unexpected(token.error());

  ClockEndpoint own;
  own.host = settings.host;
  own.boot_id = settings.boot_id;
  own.network_namespace = own_network_namespace();
  own.nonce = random_number();
  own.address = interface->address;
  own.interface = interface->name;
  own.clocksource = read_clocksource();
  own.start_ns = clock_ns(CLOCK_REALTIME);

  std::unique_ptr<Probing> probing(
      new Probing(std::move(*folder), own, choice_seed(settings.run_id), raw, std::move(tell)));
  ProbeEngineOptions options;
  options.bind = interface->address;
  options.ports = settings.ports;
  options.token = *token;
  options.run_id = settings.run_id;
  options.node = clock_node_id(own.boot_id, own.network_namespace);
  options.raw_ns = raw;
  auto engine =
      ProbeEngine::open(options, [self = probing.get()](const spool::ProbeBurst& burst) { self->take_burst(burst); });
  if (!engine) return tl::unexpected(std::move(engine.error()));
  probing->engine_ = std::move(*engine);
  probing->remark_ = interface->remark;
  probing->own_.address.port = probing->engine_->port();
  probing->own_.stamps = probing->engine_->stamps();
  if (auto status = probing->folder_.publish(probing->own_); !status) return tl::unexpected(std::move(status.error()));
  return probing;
}

Probing::Probing(EndpointFolder folder, ClockEndpoint own, std::uint64_t seed, RawClock raw, Tell tell)
    : folder_(std::move(folder)),
      own_(std::move(own)),
      seed_(seed),
      raw_(std::move(raw)),
      tell_(std::move(tell)),
      looks_(raw_()),
      schedule_(random_number()) {}

void Probing::run_until(std::int64_t deadline_ns, int wake_fd) {
  do_due();
  engine_->run_until(std::min(deadline_ns, next_ns()), wake_fd);
}

void Probing::do_due() {
  if (looks_.next_ns() <= raw_()) look();
  ask_due();
}

void Probing::look() {
  const std::int64_t begin_ns = raw_();
  const bool has_changed = folder_.look();
  const bool has_reference = folder_.reference() != known_reference_;
  const std::int64_t end_ns = raw_();
  looks_.looked(end_ns, end_ns - begin_ns, has_changed);
  if (has_changed || has_reference) choose();
}

void Probing::choose() {
  known_reference_ = folder_.reference();
  std::set<std::string> nodes = {own_.boot_id};
  for (const auto& [boot_id, endpoint] : folder_.nodes()) nodes.insert(boot_id);
  const std::set<std::string> chosen = choose_peers(own_.boot_id, nodes, centre_of(nodes, known_reference_), seed_);
  for (auto& [boot_id, peer] : peers_) {
    if (chosen.contains(boot_id) || !schedule_.contains(peer.number)) continue;
    peer.went_silent = schedule_.is_missing(peer.number, raw_());
    schedule_.remove(peer.number);
    engine_->drop_bursts(peer.number);
  }
  for (const std::string& boot_id : chosen) take_peer(boot_id, folder_.nodes().at(boot_id));
}

// A node keeps its number; an observer of it that is new is a new beginning.
void Probing::take_peer(const std::string& boot_id, const ClockEndpoint& endpoint) {
  const auto [entry, is_new] = peers_.try_emplace(boot_id);
  Peer& peer = entry->second;
  if (is_new) {
    peer.number = static_cast<std::uint32_t>(peers_.size() - 1);
    boot_ids_[peer.number] = boot_id;
  }
  const bool is_reference = boot_id == known_reference_;
  const bool is_other = is_new || peer.endpoint != endpoint;
  const bool is_told = !is_other && peer.is_reference == is_reference;
  peer.endpoint = endpoint;
  peer.is_reference = is_reference;
  peer.went_silent = false;
  if (!is_told) {
    tell_(PeerNews{peer.number, is_reference, endpoint.host, boot_id, endpoint.address.literal(), endpoint.address.port,
                   endpoint.network_namespace, static_cast<std::uint64_t>(raw_())});
  }
  if (!is_other && schedule_.contains(peer.number)) return;
  engine_->drop_bursts(peer.number);
  schedule_.add(peer.number, raw_(), first_window_ns(folder_.nodes().size()));
}

ProbeTarget Probing::target_of(const Peer& peer) const {
  return {peer.endpoint.address, clock_node_id(peer.endpoint.boot_id, peer.endpoint.network_namespace), peer.number};
}

void Probing::ask_due() {
  due_.clear();
  schedule_.take_due(raw_(), &due_);
  for (const DueBurst& burst : due_) {
    const Peer& peer = peers_.at(boot_ids_.at(burst.peer));
    if (!engine_->enqueue_burst(target_of(peer), burst.kind, burst.count)) {
      schedule_.finished(burst.peer, raw_(), false);
    }
  }
}

void Probing::take_burst(const spool::ProbeBurst& burst) {
  const bool has_answers = !burst.exchanges.empty();
  schedule_.finished(burst.peer, raw_(), has_answers);
  if (has_answers) peers_.at(boot_ids_.at(burst.peer)).has_answered = true;
  tell_(burst);
}

void Probing::hurry() {
  schedule_.hurry(raw_(), first_window_ns(folder_.nodes().size()));
}

bool Probing::name_reference() {
  look();  // whether one that is named already is there
  return folder_.name_reference().has_value();
}

void Probing::finish(std::int64_t limit_ns) {
  const std::int64_t end_ns = raw_() + limit_ns;
  bool is_asking = false;
  for (const auto& [boot_id, peer] : peers_) {
    engine_->drop_bursts(peer.number);
    if (!schedule_.is_answering(peer.number)) continue;
    is_asking = engine_->enqueue_burst(target_of(peer), spool::BurstKind::kEnd, ProbeSchedule::kExchanges) || is_asking;
  }
  // The others end too, at about this time, and ask.
  if (is_asking) engine_->run_until(end_ns, -1);
  folder_.withdraw();
}

std::string Probing::describe_silent() const {
  std::size_t n_asked = 0;
  NodeNames never;
  NodeNames no_more;
  for (const auto& [boot_id, peer] : peers_) {
    const bool is_asked = schedule_.contains(peer.number);
    const bool is_silent = is_asked ? schedule_.is_missing(peer.number, raw_()) : peer.went_silent;
    if (is_asked || is_silent || peer.has_answered) ++n_asked;
    if (is_silent) (peer.has_answered ? no_more : never).add(peer.endpoint);
  }
  const std::string of_asked = " of " + std::to_string(n_asked) + " nodes asked: ";
  std::string text;
  if (never.count > 0) text = "no answer from " + std::to_string(never.count) + of_asked + never.text;
  if (no_more.count == 0) return text;
  if (!text.empty()) text += "; ";
  return text + "no answer any more from " + std::to_string(no_more.count) + of_asked + no_more.text;
}

}  // namespace jaxprof::netsampler
