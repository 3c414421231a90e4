// What collectives say about the clocks: none can end on one rank before another, on whose part it waits, has begun.
// A run's instances are held against the aligned times, and what cannot be is counted. They check the clocks; they
// never move one, since equal ends are nothing that a collective promises.
#pragma once

#include <cstdint>
#include <span>

namespace jaxprof::clock {

// Who waits for whom.
enum class Dependence : std::uint8_t {
  kAll,     // everyone for everyone: all-reduce, all-gather, reduce-scatter, all-to-all, barrier
  kOnRoot,  // everyone for the root: broadcast, scatter
  kOfRoot,  // the root for everyone: reduce, gather
};

// One member of an instance, on the run's axis.
struct AuditMember {
  std::uint32_t node = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  double clock_error_ns = 0;  // by how much the node's clock may be wrong here, at most
  double gpu_error_ns = 0;    // … and its GPU's against it; 0 for stamps of the processor
  bool is_root = false;
};

class CausalityAudit {
 public:
  // A member that ended before another began that it waits for, beyond the errors of both; members of one node are not
  // compared. Without its root an instance that depends on one says nothing.
  struct Violation {
    double by_ns = 0;              // beyond the errors
    std::uint32_t early_node = 0;  // whose end came first
    std::uint32_t late_node = 0;
  };

  // One instance. Time goes with the members.
  void check(std::span<const AuditMember> members, Dependence dependence);

  std::uint64_t instances() const { return instances_; }    // with members on two nodes at least
  std::uint64_t violations() const { return violations_; }  // ends that came too early
  const Violation& worst() const { return worst_; }         // by_ns 0: there is none

 private:
  void compare(const AuditMember& early, const AuditMember& late);

  std::uint64_t instances_ = 0;
  std::uint64_t violations_ = 0;
  Violation worst_;
};

}  // namespace jaxprof::clock
