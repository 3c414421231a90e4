#include "tests/unit/nic/netlink_bytes.h"

#include <cstring>

namespace jaxprof::test {
namespace {

constexpr std::uint16_t kError = 2;
constexpr std::uint16_t kDone = 3;
constexpr std::uint16_t kNested = 0x8000;
constexpr std::uint16_t kClient = 5 << 10;  // RDMA_NL_NLDEV

enum Attribute : std::uint16_t {
  kDevIndex = 1,
  kDevName = 2,
  kPortIndex = 3,
  kFwVersion = 5,
  kNodeGuid = 6,
  kPortState = 12,
  kNodeType = 14,
  kNdevIndex = 50,
  kNdevName = 51,
  kHwCounters = 80,
  kHwCounter = 81,
  kHwCounterName = 82,
  kHwCounterValue = 83,
};

class Writer {
 public:
  explicit Writer(Octets* bytes) : bytes_(bytes) {}

  void message(std::uint16_t type, const auto& fill) {
    const std::size_t begin = bytes_->size();
    bytes_->resize(begin + 16);
    fill();
    const auto length = static_cast<std::uint32_t>(bytes_->size() - begin);
    std::memcpy(bytes_->data() + begin, &length, sizeof length);
    std::memcpy(bytes_->data() + begin + 4, &type, sizeof type);
  }
  void nest(std::uint16_t type, const auto& fill) {
    const std::size_t begin = bytes_->size();
    bytes_->resize(begin + 4);
    fill();
    head(begin, type | kNested);
  }
  void put(std::uint16_t type, const auto& number) { put(type, &number, sizeof number); }
  void put_text(std::uint16_t type, const std::string& text) { put(type, text.c_str(), text.size() + 1); }
  void raw(const auto& number) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&number);
    bytes_->insert(bytes_->end(), from, from + sizeof number);
  }

 private:
  void put(std::uint16_t type, const void* value, std::size_t size) {
    const std::size_t begin = bytes_->size();
    bytes_->resize(begin + 4);
    const auto* from = static_cast<const std::uint8_t*>(value);
    bytes_->insert(bytes_->end(), from, from + size);
    head(begin, type);
    bytes_->resize((bytes_->size() + 3) / 4 * 4);
  }
  void head(std::size_t begin, int type) {
    const auto length = static_cast<std::uint16_t>(bytes_->size() - begin);
    const auto number = static_cast<std::uint16_t>(type);
    std::memcpy(bytes_->data() + begin, &length, sizeof length);
    std::memcpy(bytes_->data() + begin + 2, &number, sizeof number);
  }

  Octets* bytes_;
};

void put_handle(Writer* writer, const AnsweredDevice& device) {
  writer->put(kDevIndex, device.index);
  writer->put_text(kDevName, device.name);
}

void end_dump(Writer* writer) {
  writer->message(kDone, [&] { writer->raw(std::int32_t{0}); });
}

}  // namespace

Octets answer_devices(const std::vector<AnsweredDevice>& devices) {
  Octets bytes;
  Writer writer(&bytes);
  for (const AnsweredDevice& device : devices) {
    writer.message(kClient | kGet, [&] {
      put_handle(&writer, device);
      writer.put(kPortIndex, static_cast<std::uint32_t>(device.ports.size()));
      writer.put_text(kFwVersion, "1.2.3");
      writer.put(kNodeGuid, device.guid);
      writer.put(kNodeType, std::uint8_t{1});
    });
  }
  end_dump(&writer);
  return bytes;
}

Octets answer_ports(const AnsweredDevice& device) {
  Octets bytes;
  Writer writer(&bytes);
  for (const AnsweredPort& port : device.ports) {
    writer.message(kClient | kPortGet, [&] {
      put_handle(&writer, device);
      writer.put(kPortIndex, port.number);
      writer.put(kPortState, static_cast<std::uint8_t>(port.is_active ? 4 : 1));
      if (port.netdev.empty()) return;
      writer.put(kNdevIndex, std::uint32_t{3});
      writer.put_text(kNdevName, port.netdev);
    });
  }
  end_dump(&writer);
  return bytes;
}

Octets answer_counters(const AnsweredDevice& device, const AnsweredPort& port) {
  if (port.error != 0) return answer_error(port.error);
  Octets bytes;
  Writer writer(&bytes);
  writer.message(kClient | kStatGet, [&] {
    put_handle(&writer, device);
    writer.put(kPortIndex, port.number);
    writer.nest(kHwCounters, [&] {
      for (const auto& [name, value] : port.counters) {
        writer.nest(kHwCounter, [&, counter = &name, number = value] {
          writer.put_text(kHwCounterName, *counter);
          writer.put(kHwCounterValue, number);
        });
      }
    });
  });
  return bytes;
}

Octets answer_error(int error) {
  Octets bytes;
  Writer writer(&bytes);
  writer.message(kError, [&] {
    writer.raw(static_cast<std::int32_t>(-error));
    bytes.resize(bytes.size() + 16);  // the head of the question
  });
  return bytes;
}

}  // namespace jaxprof::test
