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

const PayloadReader::Layout& PayloadReader::layout_of(std::uint32_t domain, std::uint64_t schema) {
  const Key key(domain, schema);
  if (last_ != nullptr && last_key_ == key) return *last_;
  const auto [layout, is_new] = layouts_.try_emplace(key);
  last_key_ = key;
  last_ = &layout->second;
  const rundir::Schema* fields = is_new ? trace_.schema(domain, schema) : nullptr;
  if (fields == nullptr) return *last_;
  for (const rundir::SchemaField& field : fields->fields) {
    Place place{field.name, field.offset, 0, rundir::is_signed_payload_type(field.type), nullptr};
    place.enumeration = trace_.enumeration(domain, field.type);
    if (place.enumeration != nullptr) {
      place.width = place.enumeration->value_bytes;
    } else if (rundir::is_integer_payload_type(field.type)) {
      place.width = rundir::payload_type_bytes(field.type);
    }
    const bool is_integer = field.flags == 0 && place.width >= 1 && place.width <= 8;
    if (is_integer) layout->second.push_back(place);  // and no array, string or float
  }
  return *last_;
}

void PayloadReader::read(std::uint32_t domain, std::uint64_t schema, std::span<const std::uint8_t> bytes,
                         std::vector<PayloadField>* fields) {
  for (const Place& place : layout_of(domain, schema)) {
    if (place.offset > bytes.size() || place.width > bytes.size() - place.offset) continue;  // cut off
    PayloadField field;
    field.name = place.name;
    field.value = read_integer(bytes.subspan(place.offset, place.width), place.is_signed);
    if (place.enumeration != nullptr) {
      const auto found = place.enumeration->names.find(static_cast<std::uint64_t>(field.value));
      if (found != place.enumeration->names.end()) field.enum_name = found->second;
    }
    fields->push_back(field);
  }
}

void PayloadReader::read_all(std::uint32_t domain, std::span<const std::uint8_t> event_payload,
                             std::vector<PayloadField>* fields) {
  while (event_payload.size() >= sizeof(spool::PayloadHeader)) {
    spool::PayloadHeader header{};
    std::memcpy(&header, event_payload.data(), sizeof header);
    event_payload = event_payload.subspan(sizeof header);
    if (header.bytes > event_payload.size()) break;
    read(domain, header.schema, event_payload.first(header.bytes), fields);
    const std::size_t padded = (header.bytes + std::size_t{7}) & ~std::size_t{7};
    if (padded > event_payload.size()) break;
    event_payload = event_payload.subspan(padded);
  }
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
