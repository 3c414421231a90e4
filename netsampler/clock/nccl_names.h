// Which network interfaces NCCL_SOCKET_IFNAME means, in NCCL's own language: "ib" are all whose names begin so, "=ib0"
// is that one, "eth,ib" are those of a list, "^docker,lo" and "^=eth0" all but these. A name with a port ("ib0:1")
// means none here. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jaxprof::netsampler {

class NcclNames {
 public:
  explicit NcclNames(std::string_view text);

  // Names nothing, "" or "^".
  bool is_empty() const { return names_.empty(); }
  // All interfaces but those named.
  bool is_exclusion() const { return is_exclusion_; }
  // Of a list of interfaces, or of an exclusion, whether it may be used.
  bool admits(const std::string& interface) const;
  // It is named in full, not by its beginning.
  bool names(const std::string& interface) const;

 private:
  bool is_exclusion_ = false;
  bool is_exact_ = false;
  std::vector<std::string> names_;
};

}  // namespace jaxprof::netsampler
