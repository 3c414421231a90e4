#include "netsampler/nic/sysfs_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/base/parse_number.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::netsampler {
namespace {

std::string_view without_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// "0000:00:06.0": x is a hexadecimal digit; a domain may have more than four.
bool is_pci_address(std::string_view part) {
  static constexpr std::string_view kShape = "xxxx:xx:xx.x";
  if (part.size() < kShape.size() || part.size() > kShape.size() + 4) return false;
  const std::size_t more = part.size() - kShape.size();
  if (!std::all_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(more), is_hex)) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const char c = part[more + i];
    if (kShape[i] == 'x' ? !is_hex(c) : c != kShape[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> parse_counter_text(std::string_view text) {
  return parse_uint64(without_end(text));
}

bool is_active_state(std::string_view text) {
  return text.starts_with("4:");
}

std::uint64_t parse_link_rate(std::string_view text) {
  const std::size_t unit = text.find(" Gb/sec");
  if (unit == std::string_view::npos) return 0;
  const std::optional<double> gigabits = parse_double(text.substr(0, unit));
  if (!gigabits || *gigabits < 0 || *gigabits > 1e6) return 0;
  return static_cast<std::uint64_t>(std::llround(*gigabits * 1e9));
}

std::uint64_t parse_interface_speed(std::string_view text) {
  const std::optional<std::int64_t> megabits = parse_int64(without_end(text));
  return megabits && *megabits > 0 && *megabits < 1'000'000'000 ? static_cast<std::uint64_t>(*megabits) * 1'000'000 : 0;
}

std::uint64_t parse_lifespan(std::string_view text) {
  const std::optional<std::uint64_t> ms = parse_counter_text(text);
  return ms && *ms <= 10'000 ? *ms * 1'000'000 : 0;
}

std::string find_pci_address(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view part = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    if (is_pci_address(part)) return std::string(part);
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  return {};
}

std::string read_text(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return {};
  std::array<char, 4096> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  return size <= 0 ? std::string() : std::string(without_end({text.data(), static_cast<std::size_t>(size)}));
}

}  // namespace jaxprof::netsampler
