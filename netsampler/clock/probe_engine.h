// Asks the clocks of other nodes, and answers when they ask: sockets, packets and time-outs up to finished bursts. It
// knows neither when a burst is due nor where nodes are found: others enqueue, and get what came of it by a callback.
// One thread calls everything, and run_until() does all the work, so that nothing happens behind that thread's back.
// Requests are answered at any time inside run_until(), also during own bursts; of those one is under way at a time,
// for bursts beside each other would delay each other's packets. Nothing here throws or waits for another node.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "agent/base/result.h"
#include "agent/spool/clock_codec.h"
#include "netsampler/clock/clock_token.h"
#include "netsampler/clock/peer_address.h"
#include "netsampler/clock/probe_counts.h"
#include "netsampler/clock/probe_sockets.h"
#include "netsampler/clock/probe_target.h"

namespace jaxprof::netsampler {

// What the node is called in packets: a hash of its boot id and of the inode of its network namespace. Never 0.
std::uint64_t clock_node_id(const std::string& boot_id, std::uint64_t network_namespace);

struct ProbeEngineOptions {
  PeerAddress bind;  // any address by default; its port is not used
  PortRange ports;   // the server takes the first free one, up to four more are for own bursts
  ClockToken token{};
  std::string run_id;      // packets of another run are dropped
  std::uint64_t node = 0;  // clock_node_id() of this node
  // CLOCK_MONOTONIC_RAW in ns, for every raw stamp and deadline. Null: the system's. Tests and skewed nodes have
  // others.
  RawClock raw_ns;
  bool wants_kernel_stamps = true;  // false: as where the kernel gives none
};

class ProbeEngine {
 public:
  using BurstSink = std::function<void(const spool::ProbeBurst&)>;

  // `on_burst` gets every enqueued burst once, inside run_until(), in the order of the queue; one without exchanges was
  // not answered. kNodeNotReady with the reason if there is no socket to be had: the address is not this node's, all
  // ports are taken. Takes up to 55 ms, in which it finds out by packets to itself which stamps the kernel gives.
  static Result<std::unique_ptr<ProbeEngine>> open(const ProbeEngineOptions& options, BurstSink on_burst);
  ~ProbeEngine();
  ProbeEngine(const ProbeEngine&) = delete;
  ProbeEngine& operator=(const ProbeEngine&) = delete;

  // Of the server: what other nodes send to.
  std::uint16_t port() const;
  // spool::StampKind bits that the kernel has given so far; final after the first burst.
  std::uint32_t stamps() const;

  // Packets to itself came back when it was opened; without kernel stamps none were sent.
  bool hears_itself() const;

  // `count` is at most spool::kMaxExchanges. False if 4096 bursts wait already or `target` is this node.
  bool enqueue_burst(const ProbeTarget& target, spool::BurstKind kind, std::uint32_t count);
  // Bursts that wait or are under way.
  std::size_t n_pending() const;
  // Forgets the bursts that wait for `peer`; one under way is finished. The sink does not get them.
  void drop_bursts(std::uint32_t peer);

  // Works until `deadline_ns` of raw_ns(), or until `wake_fd` can be read (which is left to the caller; -1: none), or
  // until a signal comes. A deadline that is over does what is ready and returns.
  void run_until(std::int64_t deadline_ns, int wake_fd);

  const ProbeCounts& counts() const;

 private:
  class Impl;
  explicit ProbeEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jaxprof::netsampler
