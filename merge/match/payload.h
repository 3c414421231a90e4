// NVTX payload bytes as named integers, read by the schema that the program registered. Nothing is known here about
// whose schema it is: NCCL's numbers for its schemas have changed from release to release, their field names have not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/rundir/spool_trace.h"

namespace jaxprof::match {

struct PayloadField {
  std::string_view name;       // lives as long as the trace
  std::int64_t value = 0;      // sign-extended; unsigned 64-bit values keep their bits
  std::string_view enum_name;  // "" unless the field is an enumeration with this value in it
};

// Looks each schema up once, for millions of payloads have few. One thread.
class PayloadReader {
 public:
  // `trace` is borrowed.
  explicit PayloadReader(const rundir::SpoolTrace& trace) : trace_(trace) {}

  // Adds the integer fields of one payload. Fields that the bytes do not reach are left out.
  void read(std::uint32_t domain, std::uint64_t schema, std::span<const std::uint8_t> bytes,
            std::vector<PayloadField>* fields);
  // Adds those of all payloads of an event's bytes (spool/event_record.h, PayloadHeader).
  void read_all(std::uint32_t domain, std::span<const std::uint8_t> event_payload, std::vector<PayloadField>* fields);

 private:
  // An integer field, and where its bytes lie.
  struct Place {
    std::string_view name;
    std::uint64_t offset = 0;
    std::uint64_t width = 0;  // 1 to 8
    bool is_signed = false;
    const rundir::EnumSchema* enumeration = nullptr;  // null: it is none
  };
  using Layout = std::vector<Place>;
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // domain and schema

  const Layout& layout_of(std::uint32_t domain, std::uint64_t schema);

  const rundir::SpoolTrace& trace_;
  std::map<Key, Layout> layouts_;
  Key last_key_;
  const Layout* last_ = nullptr;  // of last_key_
};

// The field of that name; null if there is none.
const PayloadField* find_field(std::span<const PayloadField> fields, std::string_view name);
// Its value as an int32, -1 if there is none.
std::int32_t number_of_field(std::span<const PayloadField> fields, std::string_view name);

}  // namespace jaxprof::match
