#include "launcher/time_limit.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "agent/base/parse_number.h"

namespace jaxprof::launcher {
namespace {

// The word behind `key`, or "".
std::string_view word_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find_first_of(" \n"));
}

// "2026-11-29T20:35:19" in local time.
std::optional<std::int64_t> parse_local_time(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !is_digit : text[i] != kShape[i]) return std::nullopt;
  }
  const auto number = [text](std::size_t at, std::size_t length) {
    return static_cast<int>(parse_int64(text.substr(at, length)).value_or(0));
  };
  std::tm time{};
  time.tm_year = number(0, 4) - 1900;
  time.tm_mon = number(5, 2) - 1;
  time.tm_mday = number(8, 2);
  time.tm_hour = number(11, 2);
  time.tm_min = number(14, 2);
  time.tm_sec = number(17, 2);
  time.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&time);
  return seconds > 0 ? std::optional<std::int64_t>(seconds) : std::nullopt;
}

std::optional<std::int64_t> positive(std::optional<std::int64_t> seconds) {
  return seconds && *seconds > 0 ? seconds : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> end_time_of(const Env& env) {
  const char* value = env.get("SLURM_JOB_END_TIME");
  return value != nullptr ? positive(parse_int64(value)) : std::nullopt;
}

std::optional<std::int64_t> parse_end_time(std::string_view show_job) {
  // A job's name comes before, and may hold anything: the pair of words that Slurm writes side by side is what counts.
  const std::size_t at = show_job.find(" StartTime=");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view end = word_behind(show_job.substr(at), " EndTime=");
  if (const auto seconds = parse_int64(end)) return positive(seconds);
  return parse_local_time(end);
}

std::int64_t node_count(const Env& env) {
  for (const char* variable : {"SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) {
    if (const char* value = env.get(variable); value != nullptr) {
      if (const auto count = positive(parse_int64(value))) return *count;
    }
  }
  return 1;
}

std::string time_of_day(std::int64_t unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm time{};
  char text[16] = "?";
  if (localtime_r(&seconds, &time) != nullptr) std::strftime(text, sizeof text, "%H:%M:%S", &time);
  return text;
}

}  // namespace jaxprof::launcher
