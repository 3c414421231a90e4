#include "netsampler/clock/probe_packet.h"

#include <type_traits>

namespace jaxprof::netsampler {
namespace {

// Field by field, in the order of the layout.
class Writer {
 public:
  explicit Writer(PacketBytes* bytes) : bytes_(bytes) {}

  template <typename T>
  void put(T value) {
    auto rest = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
    for (std::size_t i = 0; i < sizeof(T); ++i, rest >>= 8U) (*bytes_)[at_++] = static_cast<std::uint8_t>(rest);
  }

 private:
  PacketBytes* bytes_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<std::uint64_t>(bytes_[at_++]) << (8 * i);
    return static_cast<T>(value);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

PacketBytes encode_packet(const ProbePacket& packet) {
  PacketBytes bytes{};
  Writer writer(&bytes);
  writer.put(kPacketMagic);
  writer.put(kPacketVersion);
  writer.put(static_cast<std::uint8_t>(packet.type));
  writer.put(std::uint16_t{0});
  writer.put(packet.source);
  writer.put(packet.destination);
  writer.put(packet.burst);
  writer.put(packet.sequence);
  writer.put(packet.previous);
  writer.put(packet.nonce);
  writer.put(packet.client_raw_ns);
  writer.put(packet.server_receive_raw_ns);
  writer.put(packet.server_receive_wall_ns);
  writer.put(packet.server_send_raw_ns);
  writer.put(packet.previous_send_wall_ns);
  return bytes;
}

std::optional<ProbePacket> decode_packet(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kPacketBytes) return std::nullopt;
  Reader reader(bytes);
  if (reader.take<std::uint32_t>() != kPacketMagic) return std::nullopt;
  if (reader.take<std::uint8_t>() != kPacketVersion) return std::nullopt;
  const auto type = reader.take<std::uint8_t>();
  if (type < static_cast<std::uint8_t>(PacketType::kRequest) ||
      type > static_cast<std::uint8_t>(PacketType::kFollowUpReply)) {
    return std::nullopt;
  }
  if (reader.take<std::uint16_t>() != 0) return std::nullopt;
  ProbePacket packet;
  packet.type = static_cast<PacketType>(type);
  packet.source = reader.take<std::uint64_t>();
  packet.destination = reader.take<std::uint64_t>();
  packet.burst = reader.take<std::uint32_t>();
  packet.sequence = reader.take<std::uint16_t>();
  packet.previous = reader.take<std::uint16_t>();
  packet.nonce = reader.take<std::uint64_t>();
  packet.client_raw_ns = reader.take<std::int64_t>();
  packet.server_receive_raw_ns = reader.take<std::int64_t>();
  packet.server_receive_wall_ns = reader.take<std::int64_t>();
  packet.server_send_raw_ns = reader.take<std::int64_t>();
  packet.previous_send_wall_ns = reader.take<std::int64_t>();
  return packet;
}

}  // namespace jaxprof::netsampler
