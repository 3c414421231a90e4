// What the observer of a node registers in its spool: network ports, GPUs, the columns of their samples, and what
// happened to them. State records like those of a process (state_record.h), in blocks of kind state, with strings by
// number; the samples themselves are blocks of kind samples (sample_codec.h). Stamps are of the spool's event clock,
// which for a node is CLOCK_MONOTONIC_RAW in ns. Numbers of ports, GPUs and streams count from 0, each by itself.
#pragma once

#include <cstdint>

#include "agent/spool/state_record.h"

namespace jaxprof::spool {

// Who writes the spool: identity's kSpoolKind. Never renumber.
enum class SpoolKind : std::int64_t {
  kProcess = 0,
  kNode = 1,
};

// Where a port's counters are read.
enum class NicSource : std::uint32_t {
  kNone = 0,  // the port was found, its counters cannot be read; `reason` says why
  kNetlink = 1,
  kSysfs = 2,
  kNetdev = 3,  // /sys/class/net: bytes and packets of the network interface, not of RDMA
};

// A port of a network card. When one of its properties changes (renamed, link down, another source), the record is
// written again with the same number: what holds at a stamp is the last one before it.
struct NicPortState {
  StateHeader header;
  std::uint32_t nic;             // the number that streams and events carry
  std::uint32_t port;            // of the card, from 1; 0: a network interface
  StringId name;                 // as the system calls the card now: rdmap0s6, mlx5_0, eth0
  StringId driver;               // efa, mlx5_core, rdma_rxe, …; "" unknown
  StringId pci;                  // 0000:00:06.0; none for software devices
  StringId guid;                 // node_guid
  StringId netdev;               // of the port; none if it has none
  StringId reason;               // why its counters are not read in a better way; none if they are
  std::int32_t numa;             // -1 unknown
  std::uint32_t source;          // NicSource
  std::uint64_t bits_per_s;      // the link's rate; 0 unknown
  std::uint64_t lifespan_ns;     // how old a counter may be that the kernel keeps for sysfs; 0: it is read anew
  std::uint64_t period_ns;       // of the fast columns; 0: not sampled
  std::uint64_t slow_period_ns;  // of all columns
  std::uint64_t stamp;
  std::uint32_t is_active;  // the link is up
  std::uint32_t reserved;
};

enum class SampleSubject : std::uint32_t {
  kNic = 1,
  kGpu = 2,
};

// What the values of a column are, times `scale`.
enum class SampleUnit : std::uint8_t {
  kOne = 0,  // of a counter whose unit is not known here, or that counts what its name says
  kBytes = 1,
  kPackets = 2,
  kTicks = 3,  // of the card; not comparable between generations
  kMilliwatts = 4,
  kMegahertz = 5,
  kCelsius = 6,
  kBits = 7,  // each bit has a meaning of its own
  kPercent = 8,
  kMillijoules = 9,
  kNanoseconds = 10,
};

enum class SampleKind : std::uint8_t {
  kUnknown = 0,     // most likely a counter
  kCounter = 1,     // grows, wraps at 2^bits
  kSaturating = 2,  // grows and stays at its largest value, 2^bits - 1
  kGauge = 3,       // means something by itself
};

struct SampleColumn {
  StringId name;  // as the driver calls it
  std::uint32_t scale;
  std::uint8_t unit;      // SampleUnit
  std::uint8_t kind;      // SampleKind
  std::uint8_t bits;      // width of the counter in the device
  std::uint8_t is_error;  // more of it means that something went wrong
  std::uint32_t reserved;
};

// Samples of one subject. A row has all columns, or the first `partial_count` of them where it is a fast one. A subject
// whose columns change gets another stream.
struct SampleStreamState {
  StateHeader header;
  std::uint32_t stream;        // the number that samples carry
  std::uint32_t subject_kind;  // SampleSubject
  std::uint32_t subject;       // number of the port or GPU
  std::uint32_t column_count;
  std::uint32_t partial_count;
  std::uint32_t reserved;
  // `column_count` SampleColumn
};

// Bits of a row's flags. They tell of the row that has them, against the row before in the same stream.
enum SampleFlag : std::uint32_t {
  kSampleReset = 1U << 0,      // a counter went back: the difference to the row before means nothing
  kSampleWrapped = 1U << 1,    // a counter of less than 64 bits went round: differences are modulo 2^bits
  kSampleSaturated = 1U << 2,  // a saturating counter is at its end
  kSampleStale = 1U << 3,      // the kernel gave out what it had kept: the same values as before, and no reading
  kSampleReturned = 1U << 4,   // the first after the subject was lost for a while
  kSampleLast = 1U << 5,       // the last that is taken of the stream
};

struct NodeGpuState {
  StateHeader header;
  std::uint32_t gpu;  // the number that streams carry
  std::int32_t numa;  // -1 unknown
  StringId name;
  StringId uuid;    // GPU-xxxxxxxx-…
  StringId pci;     // 0000:1b:00.0
  StringId driver;  // version of the kernel driver
  std::uint64_t memory_bytes;
  std::uint64_t power_limit_mw;    // 0 unknown
  std::uint64_t sm_clock_max_mhz;  // 0 unknown
  std::uint64_t stamp;
};

// What happened to a port.
enum class NicEvent : std::uint32_t {
  kAppeared = 1,
  kVanished = 2,
  kReturned = 3,
  kRenamed = 4,
  kLinkDown = 5,
  kLinkUp = 6,
  kColumnDropped = 7,  // one of its counters cannot be read; the others go on
  kSourceChanged = 8,
};

struct NicEventState {
  StateHeader header;
  std::uint32_t nic;
  std::uint32_t event;  // NicEvent
  StringId text;        // the name before, the counter, …
  std::uint32_t reserved;
  std::uint64_t stamp;
};

// What a user should know about the node, a line each.
enum class NodeNote : std::uint32_t {
  kNoNic = 1,         // there is none, or none that can be read
  kNicTrouble = 2,    // some ports or counters are not read as they should be
  kNoGpu = 3,         // no libnvidia-ml, or it finds none
  kGpuTrouble = 4,    // the probe died, hangs, or may not read something
  kSlowReads = 5,     // the rate was lowered, for reading takes too long
  kNotSampled = 6,    // the user did not want it
  kClockTrouble = 7,  // other nodes' clocks cannot be asked, or some of them do not answer
};

struct NodeNoteState {
  StateHeader header;
  std::uint32_t note;  // NodeNote
  StringId text;
  std::uint64_t stamp;
};

// Who observes the node for the run. First record of its spool, and again when another run comes to the node.
struct NodeObserverState {
  StateHeader header;
  std::uint32_t segment;    // 0; 1, 2, … after another one died
  std::uint32_t is_shared;  // another run is observed on the node too: each sees the other's traffic
  std::uint64_t stamp;
};

// How the sample loop does, all counted from its start; once in a while, and at the end.
struct NodeTicksState {
  StateHeader header;
  std::uint64_t ticks;   // that were due
  std::uint64_t missed;  // of them: another was due already, and they were left out
  std::uint64_t lateness_max_ns;
  std::uint64_t lateness_sum_ns;  // over those that were not missed
  std::uint64_t read_ns;          // time inside of reads
  std::uint64_t cpu_ns;           // of the whole observer
  std::uint64_t stamp;
};

static_assert(sizeof(NicPortState) == 96);
static_assert(sizeof(SampleColumn) == 16);
static_assert(sizeof(SampleStreamState) == 32);
static_assert(sizeof(NodeGpuState) == 64);
static_assert(sizeof(NicEventState) == 32);
static_assert(sizeof(NodeNoteState) == 24);
static_assert(sizeof(NodeObserverState) == 24);
static_assert(sizeof(NodeTicksState) == 64);

}  // namespace jaxprof::spool
