// The payload of an event block.
#include <cstring>
#include <vector>

#include "agent/spool/event_codec.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  spool::EventDecoder decoder(bytes, size);
  spool::Event event;
  std::vector<std::uint8_t> buffer(spool::EventEncoder::kMaxEncodedBytes + 32);
  while (decoder.next(&event)) {
    fuzz::plant_fault(event.field_count == 3 && event.fields[2] == 77);
    if (event.payload_bytes > 0) {
      fuzz::demand(event.payload >= bytes && event.payload + event.payload_bytes <= bytes + size,
                   "a payload lies within its block");
    }
    // What was decoded is encoded again and comes out the same.
    std::vector<std::uint64_t> record(2 + event.field_count + (event.payload_bytes + 7) / 8);
    const spool::EventHeader header{
        static_cast<std::uint16_t>(sizeof header + 8 * event.field_count + event.payload_bytes),
        static_cast<std::uint8_t>(event.kind), static_cast<std::uint8_t>(event.field_count), event.id, event.stamp};
    std::memcpy(record.data(), &header, sizeof header);
    std::memcpy(record.data() + 2, event.fields, 8 * event.field_count);
    if (event.payload_bytes > 0) {
      std::memcpy(record.data() + 2 + event.field_count, event.payload, event.payload_bytes);
    }
    spool::EventEncoder encoder(buffer.data(), buffer.size());
    encoder.begin(decoder.thread(), event.stamp);
    encoder.add(*reinterpret_cast<const spool::EventHeader*>(record.data()));
    spool::EventDecoder again(buffer.data(), encoder.size());
    spool::Event copy;
    fuzz::demand(again.next(&copy), "an encoded event decodes");
    fuzz::demand(copy.kind == event.kind && copy.id == event.id && copy.stamp == event.stamp &&
                     copy.field_count == event.field_count && copy.payload_bytes == event.payload_bytes &&
                     std::memcmp(copy.fields, event.fields, sizeof copy.fields) == 0,
                 "an event survives encoding");
  }
  return 0;
}
