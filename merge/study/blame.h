// Whose fault it is that members of a collective wait for each other. Between two arrivals those wait who are there,
// and each who is not there yet is to blame for an equal share. So blame is conserved: what all members are to blame
// for is what all have waited, to the nanosecond, and nobody's lateness counts twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jaxprof::study {

// Of one instance, ns.
struct WaitSum {
  std::int64_t wait_ns = 0;       // of all members, for the last one; also what blaming the last one alone gives it
  std::int64_t removable_ns = 0;  // of it, what would be gone if the last had come with the one before it
};

// Shares out one instance after the other; keeps its memory. One thread.
class BlameSharing {
 public:
  // blame_ns[i], one a member, becomes what arrival start_ns[i] is to blame for; the sum is the result's wait_ns. What
  // does not divide evenly goes to the last one (of several at once, the last by position). Arrivals so far apart that
  // the sum would not fit into 64 bits, as only a damaged file has them, give zeros.
  WaitSum share(std::span<const std::int64_t> start_ns, std::span<std::int64_t> blame_ns);

 private:
  std::vector<std::uint32_t> order_;
};

}  // namespace jaxprof::study
