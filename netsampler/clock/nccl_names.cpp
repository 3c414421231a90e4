#include "netsampler/clock/nccl_names.h"

#include <algorithm>

namespace jaxprof::netsampler {

NcclNames::NcclNames(std::string_view text) {
  is_exclusion_ = text.starts_with('^');
  if (is_exclusion_) text.remove_prefix(1);
  is_exact_ = text.starts_with('=');
  if (is_exact_) text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) names_.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

bool NcclNames::admits(const std::string& interface) const {
  const bool is_named = std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return is_exact_ ? interface == name : interface.starts_with(name);
  });
  return is_named != is_exclusion_;
}

bool NcclNames::names(const std::string& interface) const {
  return std::find(names_.begin(), names_.end(), interface) != names_.end();
}

}  // namespace jaxprof::netsampler
