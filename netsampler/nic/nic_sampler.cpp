#include "netsampler/nic/nic_sampler.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "netsampler/nic/discovery.h"
#include "netsampler/nic/rdma_link.h"
#include "netsampler/nic/rdma_socket.h"
#include "netsampler/nic/sampled_port.h"

namespace jaxprof::netsampler {
namespace {

using spool::NicEvent;
using spool::NicSource;
using spool::NodeNote;

const char* word_of(NicSource source) {
  switch (source) {
    case NicSource::kNetlink:
      return "netlink";
    case NicSource::kSysfs:
      return "sysfs";
    case NicSource::kNetdev:
      return "netdev";
    case NicSource::kNone:
      break;
  }
  return "none";
}

std::string in_ms(std::uint64_t ns) {
  const std::uint64_t tenths = (ns + 99'999) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// A file a counter is soon more than the 1024 that a process may have open by default; the hard limit is for asking.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class NicSampler::Impl {
 public:
  Impl(NicSettings settings, std::unique_ptr<RdmaLink> link) : settings_(std::move(settings)), link_(std::move(link)) {
    raise_file_limit();
  }

  NicUpdate rescan() {
    update_ = {};
    const Discovery found =
        discover_ports(settings_.sysfs_root, link_.get(), settings_.source != NicSource::kNetdev, sampled_interfaces());
    const std::vector<std::optional<std::size_t>> numbers = recognize_ports(found.ports, known_ports());
    note_lost(numbers, found.rdma_error);
    for (std::size_t i = 0; i < found.ports.size(); ++i) {
      if (numbers[i]) {
        follow(*numbers[i], found.ports[i], found.rdma_error);
      } else {
        add(found.ports[i], found.rdma_error);
      }
    }
    for (SampledPort& port : sampled_) {
      if (port.revise()) have_periods_ = false;
    }
    set_periods();
    note_trouble(found);
    return std::move(update_);
  }

  bool wants_rescan() const {
    return std::any_of(sampled_.begin(), sampled_.end(), [](const SampledPort& port) { return port.wants_rescan(); });
  }

  const std::vector<Port>& ports() const { return ports_; }

  void read(std::size_t port, bool fast_only, Reading* reading) {
    sampled_[port].read(ports_[port], fast_only, reading);
  }

 private:
  std::set<std::string> sampled_interfaces() const {
    std::set<std::string> names;
    for (const Port& port : ports_) {
      if (port.info.port == 0) names.insert(port.info.name);
    }
    return names;
  }

  std::vector<FoundPort> known_ports() const {
    std::vector<FoundPort> known;
    for (const SampledPort& port : sampled_) known.push_back(port.found());
    return known;
  }

  // What netlink alone lists is not lost because netlink did not answer this time.
  void note_lost(const std::vector<std::optional<std::size_t>>& numbers, int rdma_error) {
    for (std::size_t number = 0; number < ports_.size(); ++number) {
      const bool is_found = std::find(numbers.begin(), numbers.end(), number) != numbers.end();
      if (rdma_error != 0 && sampled_[number].found().folder.empty()) continue;
      if (ports_[number].is_present && !is_found) lose(number);
    }
  }

  void lose(std::size_t number) {
    sampled_[number].end(&ports_[number]);
    change(number, NicEvent::kVanished, ports_[number].info.name);
  }

  void add(const FoundPort& found, int rdma_error) {
    const std::size_t number = ports_.size();
    ports_.emplace_back();
    sampled_.emplace_back();
    open(number, found, rdma_error);
    change(number, NicEvent::kAppeared, found.info.name);
    note_dropped(number);
  }

  // A port that is known.
  void follow(std::size_t number, const FoundPort& found, int rdma_error) {
    Port& port = ports_[number];
    SampledPort& sampled = sampled_[number];
    const PortInfo before = port.info;
    const bool was_present = port.is_present;
    const bool is_new_life = found.is_other_instance(sampled.found());
    // Gone and back between two rescans.
    if (was_present && is_new_life) lose(number);
    const bool has_returned = !port.is_present;
    // One without counters gets another chance when its link comes up.
    const bool is_worth_opening = has_returned || sampled.wants_rescan() ||
                                  (!sampled.has_counters() && found.info.is_active && !before.is_active);
    if (is_worth_opening) {
      open(number, found, rdma_error);
    } else {
      sampled.update(found, &port);
    }
    if (has_returned) change(number, NicEvent::kReturned, found.info.name);
    if (before.name != found.info.name) change(number, NicEvent::kRenamed, before.name);
    if (was_present && before.is_active != found.info.is_active) {
      change(number, found.info.is_active ? NicEvent::kLinkUp : NicEvent::kLinkDown, found.info.name);
    }
    if (before.source != port.info.source) change(number, NicEvent::kSourceChanged, word_of(before.source));
    if (is_worth_opening) note_dropped(number);
  }

  void open(std::size_t number, const FoundPort& found, int rdma_error) {
    sampled_[number].begin(found, take_reader(number, found, rdma_error), &ports_[number]);
    have_periods_ = false;
  }

  PortReader take_reader(std::size_t number, const FoundPort& found, int rdma_error) {
    PortReader reader = open_port(found, settings_.source, link_.get(), rdma_error);
    dropped_.resize(ports_.size());
    dropped_[number] = std::exchange(reader.dropped, {});
    return reader;
  }

  void note_dropped(std::size_t number) {
    for (const DroppedCounter& counter : std::exchange(dropped_[number], {})) {
      change(number, NicEvent::kColumnDropped, counter.name + ": " + counter.why);
      note(NodeNote::kNicTrouble,
           ports_[number].info.driver + ": counter " + counter.name + " is left out: " + counter.why);
    }
  }

  // Only when ports came or returned, a link changed, or readings take another time.
  void set_periods() {
    const bool has_link_change = std::any_of(update_.changes.begin(), update_.changes.end(), [](const Change& change) {
      return change.event == NicEvent::kLinkUp || change.event == NicEvent::kLinkDown ||
             change.event == NicEvent::kVanished;
    });
    if (have_periods_ && !has_link_change) return;
    have_periods_ = true;
    std::vector<PeriodWish> wishes;
    for (std::size_t i = 0; i < ports_.size(); ++i) wishes.push_back(sampled_[i].wish(ports_[i]));
    const Periods periods = choose_periods(wishes, settings_.hz, settings_.is_half_rate);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      ports_[i].info.period_ns = periods.ports[i].fast_ns;
      ports_[i].info.slow_period_ns = periods.ports[i].slow_ns;
    }
    if (periods.is_lowered && periods.shortest_ns >= 2 * told_shortest_ns_) {
      told_shortest_ns_ = periods.shortest_ns;
      note(NodeNote::kSlowReads, "reading all ports takes " + in_ms(periods.reading_ns) + ": rows at least " +
                                     in_ms(periods.shortest_ns) + " apart, so that it takes a twentieth of the time");
    }
  }

  void note_trouble(const Discovery& found) {
    if (!found.without_folder.empty()) {
      note(NodeNote::kNicTrouble, joined(found.without_folder) +
                                      ": listed in /sys/class/infiniband, but their folders are missing: the "
                                      "container has no /sys/devices");
    }
    std::map<std::string, std::vector<std::string>> names_by_reason;
    for (const Port& port : ports_) {
      if (port.is_present && !port.info.reason.empty()) names_by_reason[port.info.reason].push_back(port.info.name);
    }
    for (const auto& [reason, names] : names_by_reason) note(NodeNote::kNicTrouble, joined(names) + ": " + reason);
    note_absence(found.rdma_error);
  }

  // Is there anything that can be read, and anything for RDMA?
  void note_absence(int rdma_error) {
    const auto has = [&](auto is_one) { return std::any_of(ports_.begin(), ports_.end(), is_one); };
    const bool has_card = has([](const Port& port) { return port.info.port != 0; });
    const bool can_read = has([](const Port& port) { return port.info.source != NicSource::kNone; });
    const bool wants_cards = settings_.source != NicSource::kNetdev;
    if (can_read && (has_card || !wants_cards)) return;
    std::string text = has_card ? "no counters of a network card can be read" : "no RDMA card found";
    if (!wants_cards) text = "no network interface found";
    if (wants_cards && rdma_error != 0) text += std::string(" (RDMA netlink: ") + std::strerror(rdma_error) + ")";
    note(NodeNote::kNoNic, text + (can_read ? ": network interfaces only" : ""));
  }

  void change(std::size_t port, NicEvent event, std::string text) {
    update_.changes.push_back({.port = port, .event = event, .text = std::move(text)});
  }

  void note(NodeNote kind, std::string text) {
    if (noted_.insert(text).second) update_.notes.push_back({.note = kind, .text = std::move(text)});
  }

  NicSettings settings_;
  std::unique_ptr<RdmaLink> link_;
  std::vector<Port> ports_;
  std::vector<SampledPort> sampled_;                  // by port
  std::vector<std::vector<DroppedCounter>> dropped_;  // by port, not told yet
  NicUpdate update_;                                  // of the rescan that is going on
  std::set<std::string> noted_;
  bool have_periods_ = false;
  std::uint64_t told_shortest_ns_ = 0;  // in the last note on slow readings
};

NicSampler::NicSampler(NicSettings settings) : NicSampler(std::move(settings), std::make_unique<RdmaSocket>()) {}
NicSampler::NicSampler(NicSettings settings, std::unique_ptr<RdmaLink> link)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(link))) {}
NicSampler::~NicSampler() = default;

NicUpdate NicSampler::rescan() {
  return impl_->rescan();
}
bool NicSampler::wants_rescan() const {
  return impl_->wants_rescan();
}
const std::vector<Port>& NicSampler::ports() const {
  return impl_->ports();
}
void NicSampler::read(std::size_t port, bool fast_only, Reading* reading) {
  impl_->read(port, fast_only, reading);
}

}  // namespace jaxprof::netsampler
