// Where the event with a handle of NCCL's plugin is. A handle is thread number << 36 | count, and a thread's counts
// rise (spool::nccl_field): so what a thread started lies in order, and a handle is found near where its count says,
// without a search. What is not so, because threads share a number or a file is damaged, goes into a hash map beside
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace jaxprof::match {

class HandleIndex {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // A handle that is set again has its new place.
  void set(std::uint64_t handle, std::size_t place);
  // kNone for a handle that was never set.
  std::size_t find(std::uint64_t handle) const;

 private:
  struct Entry {
    std::uint64_t handle;
    std::size_t place;
  };
  using Entries = std::vector<Entry>;  // by handle, each once

  static const Entry* find_in(const Entries& entries, std::uint64_t handle);

  std::vector<Entries> by_thread_;
  std::unordered_map<std::uint64_t, std::size_t> others_;
};

}  // namespace jaxprof::match
