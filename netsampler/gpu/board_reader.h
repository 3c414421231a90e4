// One row of one board. Which values there are differs between boards, drivers and permissions, and NVML tells only
// when asked. A value that it says it does not have is asked for once and then never again; one that fails for the
// moment is missing in that row. A board that is gone is not touched any more: each call could take seconds.
//
// nvmlDeviceGetPcieThroughput is left out: it sleeps 20 ms a direction and board. The counters behind it are fields
// since R555, and are kept where they have 64 bits: one of 32 goes round in 67 ms on a full PCIe 5 slot, so that two
// readings half a second apart tell nothing. Agent-safe; jaxprof-probe's one thread.
#pragma once

#include "netsampler/gpu/nvml_abi.h"
#include "netsampler/gpu/probe_record.h"

namespace jaxprof::netsampler {

class BoardReader {
 public:
  constexpr BoardReader() noexcept = default;
  BoardReader(std::uint32_t number, nvml::Device device) noexcept : number_(number), device_(device) {}

  // Fills `row`, its stamps included. What is missing is kProbeMissing. Not to be called once the board is lost.
  void read(const nvml::Functions& nvml, ProbeSample* row) noexcept;

  bool is_lost() const noexcept { return is_lost_; }
  bool has_short_pcie_counters() const noexcept { return has_short_pcie_counters_; }
  // A value was refused for want of permission.
  bool is_denied() const noexcept { return is_denied_; }

 private:
  bool wants(GpuColumn column) const noexcept { return (never_ >> static_cast<unsigned>(column) & 1U) == 0; }
  void never(GpuColumn column) noexcept { never_ |= 1U << static_cast<unsigned>(column); }
  // Takes a value as NVML gave it.
  void take(GpuColumn column, nvml::Return result, std::uint64_t value, ProbeSample* row) noexcept;
  // Asks for one column by a function, which may be missing.
  template <typename Function, typename Ask>
  void ask(GpuColumn column, Function function, Ask ask, ProbeSample* row) noexcept;
  void read_temperature(const nvml::Functions& nvml, ProbeSample* row) noexcept;
  void read_utilization(const nvml::Functions& nvml, ProbeSample* row) noexcept;
  void read_fields(const nvml::Functions& nvml, ProbeSample* row) noexcept;
  void take_field(GpuColumn column, const nvml::FieldValue& field, ProbeSample* row) noexcept;

  std::uint32_t number_ = 0;
  std::uint32_t never_ = 0;  // a bit a column
  nvml::Device device_ = nullptr;
  bool is_lost_ = false;
  bool is_denied_ = false;
  bool has_short_pcie_counters_ = false;
  static_assert(kGpuColumnCount <= 32);
};

}  // namespace jaxprof::netsampler
