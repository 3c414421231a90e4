// The texts of sysfs about ports and their counters, as values. What other drivers and kernels print there is foreign
// input: a text that is not understood is no value, never a wrong one. Pure, but for read_text(), which reads one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jaxprof::netsampler {

// "1234\n". None for "N/A (no PMA)" and everything else that is not a number.
std::optional<std::uint64_t> parse_counter_text(std::string_view text);
// "4: ACTIVE": true if the state is active.
bool is_active_state(std::string_view text);
// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)": bits/s; 0 if it is something else.
std::uint64_t parse_link_rate(std::string_view text);
// `speed` of a network interface, in Mb/s, -1 if unknown: bits/s, 0 unknown.
std::uint64_t parse_interface_speed(std::string_view text);
// `lifespan` of hw_counters, in ms: ns, 0 if it is something else.
std::uint64_t parse_lifespan(std::string_view text);
// The last part of a path that is a PCI address, 0000:00:06.0; "" if there is none.
std::string find_pci_address(std::string_view path);

// The file's text without the blanks and newlines at its end; "" if it cannot be read. At most 4096 bytes, as sysfs
// has them.
std::string read_text(const std::string& path);

}  // namespace jaxprof::netsampler
