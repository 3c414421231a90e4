// Scales, rounds and escapes.
#include "merge/study/human.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace jaxprof::study {
namespace {

struct Scale {
  double size;
  const char* unit;
};

// Three significant digits without trailing zeros: 1.5, 53.4, 850, 12345, 0.00126; with an exponent only below 0.0001.
std::string three_digits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude > 0 && magnitude < 1e-4) return fmt::format("{:.3g}", value);
  int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  for (double least = 0.9995; decimals < 6 && magnitude > 0 && magnitude < least; least /= 10) ++decimals;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

// `scales` ascend; a value that would round to the next scale's 1 takes that scale.
template <std::size_t N>
std::string scaled(double value, const std::array<Scale, N>& scales) {
  std::size_t chosen = 0;
  while (chosen + 1 < N && std::abs(value) >= scales[chosen + 1].size * 0.99995) ++chosen;
  return three_digits(value / scales[chosen].size) + " " + scales[chosen].unit;
}

}  // namespace

std::string human_time(double ns) {
  constexpr std::array<Scale, 6> kScales = {
      {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}}};
  return scaled(ns, kScales);
}

std::string human_bytes(double bytes) {
  constexpr std::array<Scale, 5> kScales = {
      {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}}};
  return scaled(bytes, kScales);
}

std::string human_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return three_digits(value);
}

std::string human_cell(const Cell& cell, Unit unit, const std::string& row_unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  const auto* whole = std::get_if<std::int64_t>(&cell);
  const auto* real = std::get_if<double>(&cell);
  if (whole == nullptr && (real == nullptr || !std::isfinite(*real))) return "–";
  const double value = whole != nullptr ? static_cast<double>(*whole) : *real;
  if (unit == Unit::kUnitOfRow && row_unit == "ns") unit = Unit::kTimeNs;
  if (unit == Unit::kUnitOfRow && row_unit == "bytes") unit = Unit::kBytes;
  switch (unit) {
    case Unit::kTimeNs:
      return human_time(value);
    case Unit::kBytes:
      return human_bytes(value);
    case Unit::kGbPerS:
      return three_digits(value) + " GB/s";
    case Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    default:
      return whole != nullptr ? fmt::format("{}", *whole) : human_number(value);
  }
}

std::string exact_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) {
    return fmt::format("{}", *real);
  }
  return {};
}

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::size_t width(const std::string& text) {
  std::size_t points = 0;
  for (const char c : text) points += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return points;
}

}  // namespace jaxprof::study
