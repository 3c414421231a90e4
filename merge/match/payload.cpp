#include "merge/match/payload.h"

#include <cstring>

#include "agent/spool/event_record.h"
#include "merge/rundir/payload_type.h"

namespace jaxprof::match {
namespace {

std::int64_t read_integer(std::span<const std::uint8_t> bytes, bool is_signed) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  const std::size_t unused_bits = 8 * (sizeof value - bytes.size());
  if (is_signed && unused_bits > 0) {
    return static_cast<std::int64_t>(value << unused_bits) >> unused_bits;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::vector<PayloadField> decode_payload(const rundir::SpoolTrace& trace, std::uint32_t domain, std::uint64_t schema,
                                         std::span<const std::uint8_t> bytes) {
  std::vector<PayloadField> fields;
  const rundir::Schema* layout = trace.schema(domain, schema);
  if (layout == nullptr) return fields;
  for (const rundir::SchemaField& entry : layout->fields) {
    const rundir::EnumSchema* enumeration = trace.enumeration(domain, entry.type);
    std::uint64_t width = 0;
    if (enumeration != nullptr) {
      width = enumeration->value_bytes;
    } else if (rundir::is_integer_payload_type(entry.type)) {
      width = rundir::payload_type_bytes(entry.type);
    }
    const bool is_readable = entry.flags == 0 && width >= 1 && width <= 8 && entry.offset <= bytes.size() &&
                             width <= bytes.size() - entry.offset;
    if (!is_readable) continue;  // an array, a string, a float, or cut off
    PayloadField field;
    field.name = entry.name;
    field.value = read_integer(bytes.subspan(entry.offset, width), rundir::is_signed_payload_type(entry.type));
    if (enumeration != nullptr) {
      const auto found = enumeration->names.find(static_cast<std::uint64_t>(field.value));
      if (found != enumeration->names.end()) field.enum_name = found->second;
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<PayloadField> decode_payloads(const rundir::SpoolTrace& trace, std::uint32_t domain,
                                          std::span<const std::uint8_t> event_payload) {
  std::vector<PayloadField> fields;
  while (event_payload.size() >= sizeof(spool::PayloadHeader)) {
    spool::PayloadHeader header{};
    std::memcpy(&header, event_payload.data(), sizeof header);
    event_payload = event_payload.subspan(sizeof header);
    if (header.bytes > event_payload.size()) break;
    for (PayloadField& field : decode_payload(trace, domain, header.schema, event_payload.first(header.bytes))) {
      fields.push_back(field);
    }
    const std::size_t padded = (header.bytes + std::size_t{7}) & ~std::size_t{7};
    if (padded > event_payload.size()) break;
    event_payload = event_payload.subspan(padded);
  }
  return fields;
}

const PayloadField* find_field(std::span<const PayloadField> fields, std::string_view name) {
  for (const PayloadField& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::int32_t number_of_field(std::span<const PayloadField> fields, std::string_view name) {
  const PayloadField* field = find_field(fields, name);
  return field != nullptr ? static_cast<std::int32_t>(field->value) : -1;
}

}  // namespace jaxprof::match
