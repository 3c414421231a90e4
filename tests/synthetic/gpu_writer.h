// What CUPTI tells of one rank's GPU: its lanes and launch configurations, the program's kernels slot by slot, NCCL's,
// and the CUDA call of each, in the order in which CUPTI tells them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/synthetic/host_thread.h"
#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

// The program is this far ahead of its GPU.
inline constexpr std::int64_t kLeadNs = 60'000;

inline constexpr const char* kGpuName = "NVIDIA H100 80GB HBM3";
std::array<std::uint8_t, 16> uuid_of(const RunPlan& plan, std::uint32_t rank);

class GpuWriter {
 public:
  // Both are borrowed.
  GpuWriter(const Run& run, std::uint32_t rank, SpoolFile* spool);

  void register_gpu();
  // The slot's kernels of the program, all later by `late_ns` than planned.
  void write_kernels(const Slot& slot, std::int64_t late_ns);
  // The kernel of one NCCL launch, on the stream of that kind of communicator.
  void write_nccl_kernel(CommKind kind, spool::NcclFunction function, const Launch& launch, std::int64_t start_ns,
                         std::int64_t end_ns);
  // Of a training job: one piece of work, and the call that launched it.
  void write_kernel(const MixedKernel& kernel, const CourseWork& work);
  void write_copy(const StepCopy& copy, const CourseWork& work);
  // By which programs and NCCL know that stream.
  static std::uint64_t stream_address(CommKind kind);

  std::uint64_t kernel_count() const { return kernel_count_; }
  std::uint64_t copy_count() const { return copy_count_; }
  std::uint64_t api_count() const { return api_count_; }

 private:
  // A kernel that was launched.
  struct Started {
    MixedKernel kernel;
    std::uint8_t stream = 0;
    std::int64_t start_ns = 0;
    std::int64_t length_ns = 0;
    std::uint32_t correlation = 0;
    std::int64_t end_ns() const { return start_ns + length_ns; }
  };

  Started launch(const SlotKernel& at, std::int64_t late_ns);
  void write(const Started& started);
  void register_api(std::uint32_t api, std::string_view name);
  void write_api(std::int64_t length_ns, std::uint32_t api);
  void write_launch(const CourseWork& work, std::uint32_t api);
  std::uint64_t wall(std::int64_t true_ns) const;

  const Run& run_;
  const std::uint32_t rank_;
  SpoolFile& spool_;
  test::SimRandom random_;
  std::vector<spool::MadeVarint> names_;
  std::vector<spool::MadeVarint> configs_;  // the last is NCCL's
  std::vector<Started> beside_;             // may end after kernels that began later: CUPTI tells them later, too
  std::uint32_t correlation_ = 0;
  std::int64_t api_ns_ = 0;  // when the last CUDA call was over
  std::uint64_t kernel_count_ = 0;
  std::uint64_t copy_count_ = 0;
  std::uint64_t api_count_ = 0;
};

}  // namespace jaxprof::synthetic
