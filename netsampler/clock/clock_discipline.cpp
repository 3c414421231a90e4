#include "netsampler/clock/clock_discipline.h"

#include <sys/timex.h>

#include "agent/base/atomic_file.h"

namespace jaxprof::netsampler {
namespace {

constexpr const char* kClocksourceFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
constexpr std::int64_t kNsPerUs = 1000;
constexpr std::int64_t kPpbPerPpm = 1000;
constexpr std::int64_t kFrequencyParts = 65536;  // of one ppm

}  // namespace

spool::ClockDisciplineState discipline_of(const timex& answer, std::uint64_t stamp) {
  spool::ClockDisciplineState record{};
  record.status = static_cast<std::uint32_t>(answer.status);
  record.tai_offset_s = answer.tai;
  record.frequency_ppb = std::int64_t{answer.freq} * kPpbPerPpm / kFrequencyParts;
  record.offset_ns = std::int64_t{answer.offset} * ((answer.status & STA_NANO) != 0 ? 1 : kNsPerUs);
  record.max_error_ns = std::int64_t{answer.maxerror} * kNsPerUs;
  record.estimated_error_ns = std::int64_t{answer.esterror} * kNsPerUs;
  record.stamp = stamp;
  return record;
}

std::optional<spool::ClockDisciplineState> read_discipline(std::uint64_t stamp) {
  timex answer{};
  if (adjtimex(&answer) < 0) return std::nullopt;
  return discipline_of(answer, stamp);
}

bool is_synchronised(const spool::ClockDisciplineState& discipline) {
  return (discipline.status & STA_UNSYNC) == 0;
}

std::string read_clocksource() {
  const auto text = read_small_file(kClocksourceFile, 128);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

}  // namespace jaxprof::netsampler
