#include "netsampler/clock/clock_discipline.h"

#include <gtest/gtest.h>
#include <sys/timex.h>

namespace jaxprof::netsampler {
namespace {

TEST(DisciplineOf, TurnsTheKernelsUnitsIntoNanosecondsAndPartsPerBillion) {
  timex answer{};
  answer.status = STA_PLL;
  answer.tai = 37;
  answer.freq = -3 * 65536 / 2;  // -1.5 ppm
  answer.offset = -120;
  answer.maxerror = 2500;
  answer.esterror = 7;
  const auto record = discipline_of(answer, 99);
  EXPECT_EQ(record.status, static_cast<std::uint32_t>(STA_PLL));
  EXPECT_EQ(record.tai_offset_s, 37);
  EXPECT_EQ(record.frequency_ppb, -1500);
  EXPECT_EQ(record.offset_ns, -120'000) << "in microseconds without STA_NANO";
  EXPECT_EQ(record.max_error_ns, 2'500'000);
  EXPECT_EQ(record.estimated_error_ns, 7'000);
  EXPECT_EQ(record.stamp, 99U);
  answer.status |= STA_NANO;
  EXPECT_EQ(discipline_of(answer, 0).offset_ns, -120);
}

TEST(IsSynchronised, IsWhatTheKernelDoesNotDeny) {
  timex answer{};
  answer.status = STA_UNSYNC;
  EXPECT_FALSE(is_synchronised(discipline_of(answer, 0)));
  answer.status = STA_PLL | STA_NANO;
  EXPECT_TRUE(is_synchronised(discipline_of(answer, 0)));
}

TEST(ReadDiscipline, IsOfThisKernel) {
  timex answer{};
  if (adjtimex(&answer) < 0) GTEST_SKIP() << "adjtimex is not allowed here";
  const auto record = read_discipline(5);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->stamp, 5U);
  EXPECT_EQ(record->status & STA_UNSYNC, static_cast<std::uint32_t>(answer.status & STA_UNSYNC));
}

}  // namespace
}  // namespace jaxprof::netsampler
