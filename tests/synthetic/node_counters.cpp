#include "tests/synthetic/node_counters.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "netsampler/gpu/gpu_columns.h"
#include "netsampler/nic/counter_table.h"
#include "tests/synthetic/gpu_writer.h"
#include "tests/synthetic/node_traffic.h"

namespace jaxprof::synthetic {
namespace {

using netsampler::CounterPlace;
using netsampler::GpuColumn;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr const char* kDriver = "mlx5_core";

// ---- ports

struct PortCounter {
  const char* name;
  CounterPlace place;
};
// Fast ones first, as the observer orders them.
constexpr PortCounter kPortCounters[] = {
    {"port_rcv_data", CounterPlace::kPma},
    {"port_rcv_packets", CounterPlace::kPma},
    {"port_xmit_data", CounterPlace::kPma},
    {"port_xmit_packets", CounterPlace::kPma},
    {"local_ack_timeout_err", CounterPlace::kPortHw},
    {"np_cnp_sent", CounterPlace::kPortHw},
    {"np_ecn_marked_roce_packets", CounterPlace::kPortHw},
    {"out_of_buffer", CounterPlace::kPortHw},
    {"out_of_sequence", CounterPlace::kPortHw},
    {"packet_seq_err", CounterPlace::kPortHw},
    {"port_xmit_wait", CounterPlace::kPma},
    {"roce_adp_retrans", CounterPlace::kPortHw},
    {"rp_cnp_handled", CounterPlace::kPortHw},
};
constexpr std::size_t kFastCounters = 4;

std::vector<test::ColumnPlan> port_columns() {
  std::vector<test::ColumnPlan> columns;
  for (const PortCounter& counter : kPortCounters) {
    const netsampler::Column column = describe_counter(kDriver, counter.place, counter.name);
    columns.push_back({column.name, column.unit, column.kind, column.bits, column.scale, column.is_error});
  }
  return columns;
}

// In the order of kPortCounters. Counters count since the node was booted.
std::vector<std::uint64_t> port_values(const PortSums& sums, std::uint64_t since_boot) {
  constexpr double kWordBytes = 4;
  constexpr double kPacketBytes = 4096;
  constexpr double kTickNs = 16;  // of port_xmit_wait
  const auto count = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  const std::uint64_t words = count(sums.bytes / kWordBytes) + (since_boot << 30);
  const std::uint64_t packets = count(sums.bytes / kPacketBytes) + (since_boot << 20);
  const std::uint64_t bad = count(sums.bad_packets);
  const std::uint64_t marked = count(sums.marked_packets) + since_boot * 1000;
  return {words,
          packets,
          words,
          packets,
          bad / 50,
          marked * 4 / 5,
          marked,
          0,
          bad,
          bad * 4 / 5,
          count(sums.wait_ns / kTickNs),
          bad / 2,
          marked * 9 / 10};
}

test::PortPlan port_plan(std::uint32_t node, std::uint32_t port, std::int64_t period_ns) {
  std::array<char, 24> guid{};
  std::snprintf(guid.data(), guid.size(), "b8ce:f603:%04x:%04x", node, port);
  test::PortPlan plan;
  plan.name = "mlx5_" + std::to_string(port);
  plan.driver = kDriver;
  plan.pci = port == 0 ? "0000:18:00.0" : "0000:9a:00.0";
  plan.guid = guid.data();
  plan.netdev = "rdma" + std::to_string(port);
  plan.numa = static_cast<std::int32_t>(port);
  plan.bits_per_s = 400'000'000'000;
  plan.period_ns = static_cast<std::uint64_t>(period_ns);
  return plan;
}

// ---- GPUs

constexpr double kBoostMhz = 1980;
constexpr double kMemoryMhz = 2619;
constexpr double kClockStepMhz = 15;
constexpr double kPowerLimitW = 700;
constexpr double kBusyW = 620;
constexpr double kSlowW = 430;
constexpr double kIdleW = 115;

struct GpuNow {
  double factor = 1;        // by which its kernels are slower
  bool is_of_node = false;  // so are those of the whole node
  bool is_idle = false;
};

// The step that the rank is in, or none.
class StepClock {
 public:
  StepClock(const TrainingCourse& course, std::uint32_t rank) : course_(course), rank_(rank) {}
  // Ascending.
  std::int64_t at(std::int64_t t_ns) {
    if (t_ns >= course_.end_ns()) return -1;
    while (next_ < course_.steps() && course_.segment(rank_, next_, 0).begin_ns <= t_ns) ++next_;
    return std::int64_t{next_} - 1;
  }

 private:
  const TrainingCourse& course_;
  const std::uint32_t rank_;
  std::uint32_t next_ = 0;
};

GpuNow gpu_in(const RunPlan& plan, std::uint32_t rank, std::int64_t step) {
  GpuNow now;
  now.is_idle = step < 0;
  if (now.is_idle) return now;
  for (const Slowdown& slowdown : plan.training->slowdowns) {
    const bool acts = slowdown.acts_on(rank, plan.node_of(rank), static_cast<std::uint32_t>(step), plan.processes);
    if (slowdown.kind != SlowdownKind::kSlowKernels || !acts) continue;
    now.factor *= slowdown.factor;
    now.is_of_node |= slowdown.where == Slowdown::Where::kNode;
  }
  return now;
}

class GpuSamples {
 public:
  GpuSamples(const Run& run, std::uint32_t rank)
      : run_(run), rank_(rank), clock_(*run.course(), rank), random_(test::mix(run.plan().seed ^ 0x9b07, rank)) {}

  // By GpuColumn.
  std::vector<std::uint64_t> at(std::int64_t t_ns, std::int64_t since_ns) {
    std::vector<std::uint64_t> values(netsampler::kGpuColumnCount, spool::kMissingSample);
    const auto set = [&values](GpuColumn column, double value) {
      values[static_cast<std::size_t>(column)] = static_cast<std::uint64_t>(std::llround(value));
    };
    const GpuNow now = gpu_in(run_.plan(), rank_, clock_.at(t_ns));
    const bool is_slow = now.factor > 1;
    const double noise = random_.uniform(-1, 1);
    // At full clock there is nothing above it.
    const double mhz = kBoostMhz / now.factor - kClockStepMhz * random_.uniform(0, 2);
    const double stepped_mhz = std::round(mhz / kClockStepMhz) * kClockStepMhz;
    const double watts = now.is_idle ? kIdleW : (is_slow ? kSlowW : kBusyW) + 15 * noise;
    energy_j_ += watts * static_cast<double>(since_ns) * 1e-9;
    if (is_slow) (now.is_of_node ? brake_ns_ : thermal_ns_) += static_cast<double>(since_ns);
    const std::uint64_t slow_reasons = netsampler::kReasonHwSlowdown | (now.is_of_node ? netsampler::kReasonHwPowerBrake
                                                                                       : netsampler::kReasonHwThermal);
    const bool is_hot = is_slow && !now.is_of_node;
    set(GpuColumn::kSmClock, stepped_mhz);
    set(GpuColumn::kMemoryClock, kMemoryMhz);
    set(GpuColumn::kPower, watts * 1000);
    set(GpuColumn::kPowerInstant, (watts + 10 * random_.uniform(-1, 1)) * 1000);
    set(GpuColumn::kPowerLimit, kPowerLimitW * 1000);
    set(GpuColumn::kEnergy, energy_j_ * 1000 + 1e9);
    set(GpuColumn::kTemperature, (is_hot ? 88 : 61) + 2 * noise);
    set(GpuColumn::kMemoryTemperature, (is_hot ? 92 : 68) + 2 * noise);
    set(GpuColumn::kUtilization, now.is_idle ? 0 : 97);
    set(GpuColumn::kMemoryUtilization, now.is_idle ? 0 : 35);
    set(GpuColumn::kClockReasons, static_cast<double>(now.is_idle ? netsampler::kReasonGpuIdle
                                                      : is_slow   ? slow_reasons
                                                                  : 0));
    set(GpuColumn::kSwPowerCapTime, 0);
    set(GpuColumn::kHwThermalTime, thermal_ns_);
    set(GpuColumn::kHwPowerBrakeTime, brake_ns_);
    set(GpuColumn::kEccCorrected, 0);
    set(GpuColumn::kEccUncorrected, 0);
    set(GpuColumn::kPcieReplays, 0);
    return values;
  }

 private:
  const Run& run_;
  const std::uint32_t rank_;
  StepClock clock_;
  test::SimRandom random_;
  double energy_j_ = 0;
  double thermal_ns_ = 0;
  double brake_ns_ = 0;
};

std::vector<test::ColumnPlan> gpu_column_plans() {
  std::vector<test::ColumnPlan> columns;
  for (const netsampler::GpuColumnInfo& info : netsampler::gpu_columns()) {
    columns.push_back({info.name, info.unit, info.kind, info.bits, info.scale, info.is_error});
  }
  return columns;
}

// As NVML writes it.
std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    std::array<char, 3> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x", uuid[i]);
    const bool is_group = i == 4 || i == 6 || i == 8 || i == 10;
    text += (is_group ? "-" : "") + std::string(byte.data());
  }
  return text;
}

// ---- the node

// Beginning with, and at the end of, what is observed.
std::vector<std::int64_t> sample_times(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t period_ns) {
  std::vector<std::int64_t> times_ns;
  for (std::int64_t t = begin_ns; t < end_ns; t += period_ns) times_ns.push_back(t);
  times_ns.push_back(end_ns);
  return times_ns;
}

}  // namespace

void write_counters(const Run& run, std::uint32_t node, std::int64_t begin_ns, std::int64_t end_ns,
                    test::NodeSpool* spool) {
  const RunPlan& plan = run.plan();
  const auto times_ns = sample_times(begin_ns, end_ns, plan.counter_period_ns);
  const auto stamp = [&run, node](std::int64_t t_ns) {
    return static_cast<std::uint64_t>(run.times().raw_ns(node, t_ns));
  };
  for (std::uint32_t port = 0; port < kPortsOfNode; ++port) {
    spool->port(port, port_plan(node, port, plan.counter_period_ns), stamp(begin_ns));
    spool->stream(port, spool::SampleSubject::kNic, port, port_columns(), kFastCounters);
  }
  std::vector<GpuSamples> gpus;
  for (std::uint32_t local = 0; local < plan.ranks_per_node; ++local) {
    const std::uint32_t rank = node * plan.ranks_per_node + local;
    std::array<char, 16> pci{};
    std::snprintf(pci.data(), pci.size(), "0000:%02x:00.0", 0x1b + 16 * local);
    spool->gpu(local, uuid_text(uuid_of(plan, rank)), kGpuName, pci.data());
    spool->stream(kPortsOfNode + local, spool::SampleSubject::kGpu, local, gpu_column_plans(),
                  netsampler::kGpuColumnCount);
    gpus.emplace_back(run, rank);
  }
  const NodeTraffic traffic(run, node, times_ns);
  std::int64_t slow_ns = begin_ns;  // when all columns are due
  for (std::size_t sample = 0; sample < times_ns.size(); ++sample) {
    const std::int64_t t_ns = times_ns[sample];
    const bool is_last = sample + 1 == times_ns.size();
    const bool is_whole = t_ns >= slow_ns || is_last;
    if (is_whole) slow_ns = t_ns + kSecondNs;
    const std::uint32_t flags = is_last ? spool::kSampleLast : 0U;
    for (std::uint32_t port = 0; port < kPortsOfNode; ++port) {
      auto values = port_values(traffic.at(port, sample), 1 + node * kPortsOfNode + port);
      if (!is_whole) values.resize(kFastCounters);
      spool->row(port, stamp(t_ns), values, flags);
    }
    const std::int64_t since_ns = sample == 0 ? 0 : t_ns - times_ns[sample - 1];
    for (std::uint32_t local = 0; local < gpus.size(); ++local) {
      spool->row(kPortsOfNode + local, stamp(t_ns), gpus[local].at(t_ns, since_ns), flags);
    }
  }
  spool->ticks(times_ns.size(), 0, times_ns.size() * 80'000, times_ns.size() * 100'000);
}

}  // namespace jaxprof::synthetic
