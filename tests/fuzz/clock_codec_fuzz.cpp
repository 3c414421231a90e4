// The payload of a clock block: what the observer of a node wrote about its clock and others'.
#include <vector>

#include "agent/spool/clock_codec.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::size_t rows = 0;
  std::vector<std::uint8_t> again;
  const bool is_whole =
      spool::decode_clock_block({bytes, size}, {[&](const spool::ClockReading& reading) {
                                                  fuzz::plant_fault(reading.bracket_ns == 77);
                                                  ++rows;
                                                  spool::append_readings({&reading, 1}, &again);
                                                },
                                                [&](const spool::ProbeBurst& burst) {
                                                  fuzz::demand(burst.exchanges.size() <= spool::kMaxExchanges,
                                                               "a burst has no more exchanges than there may be");
                                                  rows += burst.exchanges.size();
                                                  spool::append_burst(burst, &again);
                                                }});
  fuzz::demand(2 * rows <= size, "a row takes two bytes");
  fuzz::demand(spool::decode_clock_block(again, {}), "what was decoded can be encoded");
  (void)is_whole;
  return 0;
}
