// Lines of numbers: size, count, type, redop, root, then time, algbw, busbw and #wrong twice. Older versions print no
// redop and root where there is none, so the columns behind the type are counted from the first time on. Source:
// nccl-tests, src/common.cu, and the columns of doc/PERFORMANCE.md.
#include "merge/study/nccl_tests_output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "merge/study/bandwidth.h"

namespace jaxprof::study {
namespace {

using runfile::Dtype;

constexpr std::size_t kMostBytes = 64U << 20U;  // of an output

constexpr std::array<std::pair<std::string_view, Dtype>, 14> kTypes = {{{"int8", Dtype::kI8},
                                                                        {"uint8", Dtype::kU8},
                                                                        {"int32", Dtype::kI32},
                                                                        {"uint32", Dtype::kU32},
                                                                        {"int64", Dtype::kI64},
                                                                        {"uint64", Dtype::kU64},
                                                                        {"half", Dtype::kF16},
                                                                        {"float", Dtype::kF32},
                                                                        {"double", Dtype::kF64},
                                                                        {"bfloat16", Dtype::kBf16},
                                                                        {"fp8_e4m3", Dtype::kF8e4m3},
                                                                        {"f8e4m3", Dtype::kF8e4m3},
                                                                        {"fp8_e5m2", Dtype::kF8e5m2},
                                                                        {"f8e5m2", Dtype::kF8e5m2}}};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  for (std::size_t at = 0; (at = line.find_first_not_of(kBlanks, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<Dtype> type_of(std::string_view word) {
  for (const auto& [name, type] : kTypes) {
    if (name == word) return type;
  }
  return std::nullopt;
}

// "#  Rank  3 Group  0 Pid ..." -> 3.
std::optional<std::uint32_t> listed_rank(const std::vector<std::string_view>& words) {
  const auto rank = std::find(words.begin(), words.end(), "Rank");
  if (words.empty() || words.front() != "#" || rank == words.end() || std::next(rank) == words.end())
    return std::nullopt;
  return number<std::uint32_t>(*std::next(rank));
}

// Behind the type may stand redop and root. A time has a point, or at least five digits.
std::size_t first_time_of(const std::vector<std::string_view>& words) {
  constexpr double kLeastWithoutPoint = 10'000;
  std::size_t at = 3;
  for (; at < std::min<std::size_t>(words.size(), 5); ++at) {
    const auto value = number<double>(words[at]);
    if (value && (words[at].find('.') != std::string_view::npos || *value >= kLeastWithoutPoint)) break;
  }
  return at;
}

std::optional<ReferenceTime> table_line(const std::vector<std::string_view>& words) {
  // Out-of-place and in-place times take the last eight words, without in-place ones the last four.
  if (words.size() < 7) return std::nullopt;
  const auto size = number<std::uint64_t>(words[0]);
  const auto count = number<std::uint64_t>(words[1]);
  const auto type = type_of(words[2]);
  if (!size || !count || !type) return std::nullopt;
  const std::size_t first_time = first_time_of(words);
  if (first_time + 2 >= words.size()) return std::nullopt;
  const auto time_us = number<double>(words[first_time]);
  const auto algbw = number<double>(words[first_time + 1]);
  const auto busbw = number<double>(words[first_time + 2]);
  const auto is_sound = [](std::optional<double> value) { return value && std::isfinite(*value) && *value >= 0; };
  if (!is_sound(time_us) || !is_sound(algbw) || !is_sound(busbw) || *time_us <= 0) return std::nullopt;
  return ReferenceTime{*size, *type, *time_us, *algbw, *busbw};
}

}  // namespace

Result<Reference> parse_nccl_tests(std::string_view text) {
  Reference reference;
  std::set<std::uint32_t> ranks;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto rank = listed_rank(words)) ranks.insert(*rank);
    if (const auto line = table_line(words)) reference.times.push_back(*line);
  }
  if (reference.times.empty()) {
    return fail(ErrorCode::kInputUnreadable,
                "has no line of nccl-tests' table (size, count, type, …, time, algbw, busbw)");
  }
  reference.n_ranks = static_cast<std::uint32_t>(ranks.size());
  return reference;
}

Result<Reference> read_nccl_tests(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail_errno(ErrorCode::kInputUnreadable, "--ref " + path);
  std::string text;
  text.resize(kMostBytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return fail_errno(ErrorCode::kInputUnreadable, "--ref " + path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) return fail(ErrorCode::kInputUnreadable, "--ref " + path + ": is larger than 64 MiB");
  auto reference = parse_nccl_tests(text);
  if (!reference) return tl::unexpected(std::move(reference.error()).wrap("--ref " + path));
  return reference;
}

std::optional<double> reference_us(const Reference& reference, runfile::Coll coll, Dtype dtype,
                                   std::uint64_t size_bytes, std::uint32_t n_ranks) {
  const auto factor = bus_factor(coll, n_ranks);
  if (!factor || (reference.n_ranks != 0 && reference.n_ranks != n_ranks)) return std::nullopt;
  for (auto time = reference.times.rbegin(); time != reference.times.rend(); ++time) {
    if (time->size_bytes != size_bytes || time->dtype != dtype) continue;
    // Both are rounded to two digits.
    const double slack = 0.006 * (1 + *factor) + 0.001 * time->busbw_gb_per_s;
    if (std::abs(time->algbw_gb_per_s * *factor - time->busbw_gb_per_s) <= slack) return time->time_us;
  }
  return std::nullopt;
}

}  // namespace jaxprof::study
