// Is it communication? Of two sources: /nccl_work, which knows what carried out an NCCL call whatever its name is, and
// names that are NCCL's or NVSHMEM's, for work whose call was not recorded. Never which operation: NCCL's generic
// kernels serve several, and "AllReduce_Sum_f32_RING_LL" may have run anything. A test for one prefix finds nothing as
// soon as a release renames its kernels.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "merge/runfile/run_file_reader.h"

namespace jaxprof::study {

// By the name as compiled or as a framework shows it: ncclDevKernel_…, ncclKernel_…, ncclSymDevKernel_…,
// ncclSymkDevKernel_…, nccl:all_reduce, nvshmem…; upper and lower case alike.
bool is_comm_kernel_name(std::string_view name);

// Which rows of /events/kernels and /events/memops are communication. One bit a row.
// Read-only after load(), but for the names that it remembers: one thread.
class CommWork {
 public:
  // kInputUnreadable.
  static Result<CommWork> load(const runfile::RunFileReader& reader, const runfile::StringTable& strings);

  bool is_comm_kernel(std::uint64_t row, runfile::StringId name) { return has(kernels_, row) || is_comm_name(name); }
  bool is_comm_memop(std::uint64_t row) const { return has(memops_, row); }
  // By its name alone.
  bool is_comm_name(runfile::StringId name);

 private:
  explicit CommWork(const runfile::StringTable& strings) : strings_(&strings), by_name_(strings.size(), kUnknown) {}
  static bool has(const std::vector<std::uint64_t>& bits, std::uint64_t row) {
    return row / 64 < bits.size() && (bits[row / 64] >> (row % 64) & 1U) != 0;
  }
  static constexpr std::uint8_t kUnknown = 2;

  const runfile::StringTable* strings_;
  std::vector<std::uint64_t> kernels_;  // by row, a bit each; empty without /nccl_work
  std::vector<std::uint64_t> memops_;
  std::vector<std::uint8_t> by_name_;  // [strings] 0, 1 or kUnknown
};

}  // namespace jaxprof::study
