// What slows a training job, where, how much and in which steps: the causes that studies have to find. Where it acts is
// told in the words of the job (a rank, a node, a port), what it does in TrainingCourse.
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/result.h"

namespace jaxprof::synthetic {

enum class SlowdownKind : std::uint8_t {
  kHostStall,      // before each unit the host does nothing for `extra_ns` and launches nothing
  kHostStallOnce,  // the same before the first unit of a step, as a program that waits for its input
  kSlowKernels,    // kernels take `factor` times as long
  kSlowCopy,       // the copy of the step's input takes `extra_ns` longer
  kSlowNic,        // what goes over that port takes `factor` times as long, and so do the collectives that wait for it
  kSlowNetwork,    // everything between nodes takes `factor` times as long
  kSkew,           // comes `extra_ns` later to each unit, and no record tells why
};

struct Slowdown {
  enum class Where : std::uint8_t {
    kRank,      // `number`
    kNode,      // all ranks of node `number`
    kRotating,  // another rank in each step, beginning with `number`
    kPort,      // `port` of node `number`
    kNetwork,
  };

  SlowdownKind kind = SlowdownKind::kHostStall;
  Where where = Where::kRank;
  std::uint32_t number = 0;
  std::uint32_t port = 0;
  std::int64_t extra_ns = 0;
  double factor = 1;
  std::uint32_t first_step = 0;
  std::uint32_t last_step = UINT32_MAX;

  bool is_in(std::uint32_t step) const { return first_step <= step && step <= last_step; }
  // Does it act on that rank then? `node` is the rank's.
  bool acts_on(std::uint32_t rank, std::uint32_t node, std::uint32_t step, std::uint32_t processes) const;
  // Of what goes between nodes.
  bool is_of_transfers() const { return kind == SlowdownKind::kSlowNic || kind == SlowdownKind::kSlowNetwork; }
  bool has_factor() const { return is_of_transfers() || kind == SlowdownKind::kSlowKernels; }
};

// "KIND:WHERE:AMOUNT" or "KIND:WHERE:AMOUNT:A-B": KIND host-stall, host-stall-once, slow-kernels, slow-copy, slow-nic,
// slow-network or skew; WHERE rank3, node1, rotating2 (from rank 2 on), node1.0 (its port 0) or network; AMOUNT in
// microseconds, or for slow-kernels, slow-nic and slow-network a factor above 1; steps A to B, or "A". kUsage with what
// is wrong.
Result<Slowdown> parse_slowdown(const std::string& text);

const char* name_of(SlowdownKind kind);

}  // namespace jaxprof::synthetic
