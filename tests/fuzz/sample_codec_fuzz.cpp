// The payload of a samples block, and again the same with what was kept from it.
#include <vector>

#include "agent/spool/sample_codec.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  spool::SampleDecoder decoder;
  std::size_t rows = 0;
  const auto visit = [&](std::uint32_t, const spool::SampleRow& row) {
    fuzz::plant_fault(row.values.size() == 3 && row.values[2] == 77);
    fuzz::demand(row.values.size() <= spool::kMaxSampleColumns, "a row has no more columns than there may be");
    ++rows;
  };
  decoder.decode({bytes, size}, visit);
  fuzz::demand(rows <= size, "a row takes a byte");
  decoder.decode({bytes, size}, visit);
  return 0;
}
