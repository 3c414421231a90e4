// What the observer of a node could have left, put together by hand: ports, GPUs, streams and rows, turned into the
// bytes of its spool. For the tests of everything that reads such spools. Stamps are ns of CLOCK_MONOTONIC_RAW; stamp 0
// is 1 s after the epoch unless a test adds other anchors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/spool/block.h"
#include "agent/spool/clock_codec.h"
#include "agent/spool/clock_record.h"
#include "agent/spool/identity.h"
#include "agent/spool/node_record.h"
#include "agent/spool/sample_codec.h"

namespace jaxprof::test {

struct PortPlan {
  std::string name = "rdmap0s6";
  std::string driver = "efa";
  std::string pci = "0000:00:06.0";
  std::string guid = "0202:0000:0000:0006";
  std::string netdev = {};
  std::string reason = {};
  std::uint32_t port = 1;
  std::int32_t numa = 0;
  spool::NicSource source = spool::NicSource::kNetlink;
  std::uint64_t bits_per_s = 100'000'000'000;
  std::uint64_t period_ns = 100'000'000;
};

struct ColumnPlan {
  std::string name;
  spool::SampleUnit unit = spool::SampleUnit::kOne;
  spool::SampleKind kind = spool::SampleKind::kCounter;
  std::uint8_t bits = 64;
  std::uint32_t scale = 1;
  bool is_error = false;
};

class NodeSpool {
 public:
  // Of run "7.0.0" on `host`, which is a node of its own, as in Recording.
  explicit NodeSpool(const std::string& host = "n0", std::uint32_t segment = 0, bool is_shared = false);

  void set(spool::IdentityKey key, std::int64_t number) { numbers_[key] = number; }
  void set_text(spool::IdentityKey key, const std::string& text) { texts_[key] = text; }
  spool::StringId string(std::string_view text);
  // A state record of any kind; its header is filled in.
  template <typename Fixed>
  void state(spool::StateKind kind, Fixed fixed, std::string tail = {}) {
    append_state(kind, &fixed, sizeof fixed, std::move(tail));
  }
  void port(std::uint32_t nic, const PortPlan& plan, std::uint64_t stamp = 0);
  void gpu(std::uint32_t gpu, const std::string& uuid, const std::string& name = "puppet GPU",
           const std::string& pci = "0000:1b:00.0");
  void stream(std::uint32_t stream, spool::SampleSubject kind, std::uint32_t subject,
              const std::vector<ColumnPlan>& columns, std::uint32_t partial_count = 0);
  void event(std::uint32_t nic, spool::NicEvent event, std::string_view text = "", std::uint64_t stamp = 0);
  void note(spool::NodeNote note, std::string_view text);
  void ticks(std::uint64_t due, std::uint64_t missed, std::uint64_t read_ns = 0, std::uint64_t cpu_ns = 0);

  // A row of a registered stream; a partial one if it has fewer values than the stream has columns.
  void row(std::uint32_t stream, std::uint64_t stamp, const std::vector<std::uint64_t>& values, std::uint32_t flags = 0,
           std::uint32_t read_us = 20);
  // How the node takes part in comparing clocks; its network namespace is its host's.
  void clock_service(const std::string& clocksource = "tsc", bool is_reference = false, std::uint64_t stamp = 0,
                     const std::string& reason = {});
  void clock_peer(std::uint32_t peer, const std::string& host);
  void clock_readings(const std::vector<spool::ClockReading>& readings);
  void clock_burst(const spool::ProbeBurst& burst);
  // From here on the clock block is no sections.
  void damage_clock() { clock_.push_back(0x7f); }

  // What was added since the last one becomes a block of its own.
  void end_block();
  // The next block starts anew, as an observer does now and then.
  void restart();
  void anchor(const spool::AnchorRecord& anchor) { anchors_.push_back(anchor); }
  // As one whose observer was killed before it had taken any.
  void without_anchors() { has_anchors_ = false; }

  std::string bytes(bool has_footer = true);
  // Writes them into a run's state folder, under the name that the `attempt`-th observer of its node takes.
  std::string write(const std::string& state_folder, std::uint32_t attempt = 0, bool has_footer = true);

 private:
  struct Stream {
    std::size_t column_count;
    spool::SampleEncoder encoder;
  };

  void append_state(spool::StateKind kind, void* fixed, std::size_t bytes, std::string tail);
  std::string identity_payload() const;

  std::map<spool::IdentityKey, std::string> texts_;
  std::map<spool::IdentityKey, std::int64_t> numbers_;
  std::map<std::string, spool::StringId, std::less<>> strings_;
  std::string state_;
  std::vector<spool::AnchorRecord> anchors_;  // empty: two that suit rows of the first minutes
  bool has_anchors_ = true;
  std::map<std::uint32_t, Stream> streams_;
  std::vector<std::string> blocks_;
  std::vector<std::uint8_t> clock_;
};

}  // namespace jaxprof::test
